import { expect, test } from 'vitest';
import { Pod } from '../../../constructs/api/resources.ts';
import { operatedNamespace } from '../../support/operated-namespace.ts';
import { single } from '../../support/workbench.ts';

const namespace = 'first-start';
const bench = operatedNamespace(namespace);

/** The pods that serve, by uid. */
async function serving(): Promise<string[]> {
  const { items } = await bench.client.list(Pod, { namespace });
  const ours = items.filter(({ metadata: { name } }) => /^c1-(etcd-0|api-server-[^-]+-[^-]+)$/.test(name));
  return ours.map(({ metadata }) => `${metadata.name} ${metadata.uid}`).toSorted();
}

test('an image of etcd that no registry has, of a later minor, is corrected by correcting the spec', async () => {
  await bench.create('c1', { ...single, etcd: { replicas: 1, image: { tag: '3.99.0-none' } } });
  const { status } = await bench.untilCondition('c1', 'EtcdClusterReady', { message: /c1-etcd-0: .*Image/ });
  expect(status).toBe('False');
  await bench.patch('c1', { spec: { etcd: { image: null } } });
  await bench.untilReady('c1');
  expect(await serving()).toHaveLength(2);
});

test('nodes that do not exist, for everything: the only member of etcd and the only API server serve on, until that is taken back', async () => {
  const before = await serving();
  await bench.patch('c1', { spec: { deployment: { defaults: { nodeSelector: { pool: 'none' } } } } });
  const { message } = await bench.untilCondition('c1', 'EtcdClusterReady', { reason: 'RolloutRefused' });
  expect(message).toMatch(/the pod c1-etcd-0 would find no node: .*node affinity\/selector/);
  await bench.untilCondition('c1', 'APIServerDeploymentsReady', { message: /cannot be scheduled/ });
  expect(await serving()).toEqual(expect.arrayContaining(before));
  const hosted = await bench.hosted('c1');
  expect(await hosted.raw('/readyz')).toBe('ok');
  await hosted.connection.close();

  await bench.patch('c1', { spec: { deployment: { defaults: { nodeSelector: null } } } });
  await bench.untilReady('c1');
  expect(await serving()).toEqual(before);
  const { items } = await bench.client.list(Pod, { namespace });
  expect(items.filter(({ metadata }) => metadata.name.includes('-probe-'))).toEqual([]);
});
