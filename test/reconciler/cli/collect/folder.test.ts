import type { EventObject, PodObject, SecretObject } from '../../../../imports/kubernetes.ts';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Event, Pod, Secret } from '../../../../constructs/api/resources.ts';
import { managerSelector, providerNamespace } from '../../../../constructs/cluster/provider-names.ts';
import { selectorLabels } from '../../../../constructs/cluster/labels.ts';
import { collect } from '../../../../reconciler/cli/collect.ts';
import { orderedCluster } from '../../../support/loop/scenario.ts';
import { MemoryClient } from '../../../support/memory-cluster/client.ts';
import { administrator } from '../../../support/memory-cluster/users.ts';
import { clusterName, namespace } from '../../../support/scope.ts';
import { testSession } from '../../../support/test-session.ts';
import { run } from '../../../tools/testbed/run.ts';

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

const event = (name: string, kind: string, about: string): EventObject => ({
  apiVersion: Event.apiVersion,
  kind: Event.kind,
  metadata: { namespace, name },
  regarding: { kind, namespace, name: about },
});
const events = [
  event('own-pod', 'Pod', 'c1-api-server-0'),
  event('of-another-pod', 'Pod', 'c1-x-api-server-0'),
  event('of-another', 'HostedControlPlane', 'c1-x'),
];

/** What the operator logs about this control plane, about another one, and about none. */
const operatorLog = [
  '{"hostedControlPlane":"team/c1-x7k2p","msg":"about this one"}',
  '{"hostedControlPlane":"team/other","msg":"about another one"}',
  '{"msg":"leading"}',
].join('\n');

class LoggingClient extends MemoryClient {
  override async raw(path: string): Promise<string> {
    if (path.includes('/pods/manager-0/log?')) return operatorLog;
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
  const operator: PodObject = {
    apiVersion: Pod.apiVersion,
    kind: Pod.kind,
    metadata: { namespace: providerNamespace, name: 'manager-0', labels: managerSelector },
    status: { containerStatuses: [{ name: 'manager', restartCount: 0, image: 'registry.example.com/manager:v0.1.0' }] },
  };
  const planted: SecretObject = {
    apiVersion: Secret.apiVersion,
    kind: Secret.kind,
    metadata: { namespace, name: 'c1-planted', labels },
    data: { password: encoded(password) },
  };
  for (const object of [pod, planted, operator, ...events]) store.put(object);
  const client = new LoggingClient(cluster.management, administrator('support'));
  const to = join(directory, 'collected.tar.gz');
  await collect.prepare({ positionals: [clusterName], values: { to } })(testSession({ client, namespace }).session);
  expect((await stat(to)).mode & 0o777).toBe(0o600);
  await run(['tar', '--extract', '--file', to, '--directory', directory]);
  await rm(to);

  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  const one = (name: string) => texts[files.findIndex((file) => file.endsWith(name))];
  expect(one('/Event-events.k8s.io-v1.yaml')).toContain('own-pod');
  expect(one('/Event-events.k8s.io-v1.yaml')).not.toContain('of-another');
  expect(one('/operator/manager-0-manager.log')).toMatch(/^.*about this one.*\n.*leading.*$/);
  expect(one('/versions.txt')).toMatch(/^hcp \S+\noperator manager-0: registry\.example\.com\/manager:v0\.1\.0\n$/);
  const logs = texts.filter((text) => text.includes('[3 lines of the audit log removed]'));
  expect(logs).toHaveLength(2);
  for (const text of logs) expect(text).toMatch(/starting[\s\S]*stopping/);
  expect(texts.join('\n')).toContain('c1-planted');
  for (const form of [password, encoded(password), token]) for (const text of texts) expect(text).not.toContain(form);
});
