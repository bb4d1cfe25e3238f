import type { SecretObject } from '../../../imports/kubernetes.ts';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConfigMap, PersistentVolumeClaim, Pod, Secret } from '../../../constructs/api/resources.ts';
import { selectorString } from '../../../constructs/cluster/labels.ts';
import { collect } from '../../../reconciler/cli/collect.ts';
import { hibernate, wake } from '../../../reconciler/cli/hibernate.ts';
import { KubeError } from '../../../reconciler/kube/errors.ts';
import { borrow } from '../../support/lent/borrow.ts';
import { Needles, scanDirectory } from '../../support/output-scan.ts';
import { run } from '../../tools/testbed/run.ts';
import { hcp } from './hcp-command.ts';

const bench = borrow('plain', { restartsPods: true });
const { namespace } = bench;
const name = { namespace: 'default', name: 'kept' };

/** The volumes of etcd, by their uid. */
async function volumes(): Promise<(string | undefined)[]> {
  const { items } = await bench.client.list(PersistentVolumeClaim, {
    namespace,
    labelSelector: selectorString('c1', 'etcd'),
  });
  return items.map(({ metadata }) => metadata.uid);
}

/** Of a user who does not know that others read pods. */
const secretValue = 'the-token-of-a-user';
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'collect-'));
  await bench.patch('c1', { spec: { deployment: { scheduler: { env: [{ name: 'TOKEN', value: secretValue }] } } } });
  await bench.untilRolledOut('c1');
});
afterAll(async () => {
  await bench.undo();
  await rm(directory, { recursive: true, force: true });
});

test('hcp collect writes everything that helps, and nothing that is secret', async () => {
  const to = join(directory, 'collected');
  const archive = join(directory, 'collected.tar.gz');
  expect(await hcp(bench, collect, 'c1', { to: archive })).toContain('read it before you pass it on');
  await mkdir(to);
  await run(['tar', '--extract', '--file', archive, '--strip-components=1', '--directory', to]);
  const files = (await readdir(to, { recursive: true })).sort();
  expect(files).toEqual(
    expect.arrayContaining([
      'Cluster.yaml',
      'Deployment-apps-v1.yaml',
      'HostedControlPlane.yaml',
      'Pod-v1.yaml',
      'Secret-v1.yaml',
      'status.txt',
      expect.stringMatching(/^logs\/c1-etcd-0-etcd\.log$/),
      expect.stringMatching(/^logs\/c1-api-server-.*-kube-apiserver\.log$/),
    ]),
  );
  const needles = new Needles();
  needles.add('the value of a variable', secretValue);
  const { items } = await bench.client.list<SecretObject>(Secret, { namespace });
  for (const { metadata, data = {} } of items) {
    for (const [key, value] of Object.entries(data)) {
      // certificates are no secrets, and some keys hold only a name or a number
      if (/key|kubeconfig|value|token/.test(key) && !key.endsWith('.crt'))
        needles.add(`${metadata.name}/${key}`, Buffer.from(value, 'base64'));
    }
  }
  expect(needles.size).toBeGreaterThan(10);
  expect(await scanDirectory(to, needles)).toEqual([]);
  expect(await readFile(join(to, 'Secret-v1.yaml'), 'utf8')).toMatch(/tls\.key: \d+ bytes/);
});

test('a real control plane hibernates without any pod, and wakes up with its data, volumes, endpoint and credentials', async () => {
  const [before, kept] = [await bench.get('c1'), await volumes()];
  const hosted = await bench.hosted('c1');
  await hosted.create(
    { apiVersion: ConfigMap.apiVersion, kind: ConfigMap.kind, metadata: name },
    { fieldManager: 'user' },
  );

  expect(await hcp(bench, hibernate)).toContain('no component runs');
  expect((await bench.client.list(Pod, { namespace })).items).toEqual([]);
  expect(await volumes()).toEqual(kept);
  await expect(hosted.find(ConfigMap, name)).rejects.toThrow(KubeError);
  const sent = bench.operator.hostedRequests.length;
  // The test is about this time: watches of an API server that is away would try again within a second.
  await setTimeout(5_000);
  expect(bench.operator.hostedRequests.slice(sent)).toEqual([]);

  expect(await hcp(bench, wake)).toBe('c1 is ready');
  const after = await bench.get('c1');
  expect(after.spec.controlPlaneEndpoint).toEqual(before.spec.controlPlaneEndpoint);
  expect(after.status?.etcd?.clusterID).toBe(before.status?.etcd?.clusterID);
  expect(await volumes()).toEqual(kept);
  // by the kubeconfig of before
  expect(await hosted.find(ConfigMap, name)).toBeDefined();
  await hosted.delete(ConfigMap, name);
  await hosted.connection.close();
});
