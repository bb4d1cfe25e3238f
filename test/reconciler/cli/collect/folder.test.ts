import type { PodObject, SecretObject } from '../../../../imports/kubernetes.ts';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Pod, Secret } from '../../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../../constructs/cluster/labels.ts';
import { collect } from '../../../../reconciler/cli/collect.ts';
import { orderedCluster } from '../../../support/loop/scenario.ts';
import { MemoryClient } from '../../../support/memory-cluster/client.ts';
import { administrator } from '../../../support/memory-cluster/users.ts';
import { clusterName, namespace } from '../../../support/scope.ts';
import { testSession } from '../../../support/test-session.ts';

const password = 'hunter2-is-planted';
const token = 'eyJhbGciOiJub25lIn0.cGxhbnRlZC10b2tlbg.c2lnbmF0dXJl';
const encoded = (text: string) => Buffer.from(text).toString('base64');

/** Logs of API servers whose audit policy writes whole requests and answers to the log. */
const log = [
  'I1128 12:00:00.000000       1 server.go:1] starting',
  ...Array.from({ length: 3 }, () =>
    JSON.stringify({
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'RequestResponse',
      requestObject: { kind: 'Secret', apiVersion: 'v1', stringData: { password } },
      responseObject: { kind: 'Secret', apiVersion: 'v1', data: { password: encoded(password) } },
      user: { username: 'admin', extra: { token: [token] } },
    }),
  ),
  `I1128 12:00:01.000000       1 request.go:1] Request Body: {"kind":"Secret","data":{"password":"${encoded(password)}"}}`,
  `I1128 12:00:02.000000       1 request.go:1] bearer ${token}`,
  'I1128 12:00:03.000000       1 server.go:1] stopping',
].join('\n');

class LoggingClient extends MemoryClient {
  override async raw(path: string): Promise<string> {
    return path.includes('/log?') ? log : super.raw(path);
  }
}

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'collect-'));
});
afterEach(() => rm(directory, { recursive: true }));

it('has no secret that is in an audit log, in another log, or in a Secret', async () => {
  const cluster = await orderedCluster();
  const { store } = cluster.management;
  const labels = selectorLabels(clusterName, 'api-server');
  const pod: PodObject = {
    apiVersion: Pod.apiVersion,
    kind: Pod.kind,
    metadata: { namespace, name: 'c1-api-server-0', labels },
    status: { containerStatuses: [{ name: 'kube-apiserver', restartCount: 1 }] },
  };
  const planted: SecretObject = {
    apiVersion: Secret.apiVersion,
    kind: Secret.kind,
    metadata: { namespace, name: 'c1-planted', labels },
    data: { password: encoded(password) },
  };
  for (const object of [pod, planted]) store.put(object);
  const client = new LoggingClient(cluster.management, administrator('support'));
  await collect.prepare({ positionals: [clusterName], values: { to: directory } })(
    testSession({ client, namespace }).session,
  );

  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  const logs = texts.filter((text) => text.includes('[3 lines of the audit log removed]'));
  expect(logs).toHaveLength(2);
  for (const text of logs) expect(text).toMatch(/starting[\s\S]*stopping/);
  expect(texts.join('\n')).toContain('c1-planted');
  for (const form of [password, encoded(password), token]) for (const text of texts) expect(text).not.toContain(form);
});
