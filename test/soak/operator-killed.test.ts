import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import { recordFault } from '../support/fault-table.ts';
import { NumberedConfigMaps } from '../support/numbered-config-maps.ts';
import { operatedNamespace } from '../support/operated-namespace.ts';
import { single } from '../support/workbench.ts';
import { EtcdPods } from '../cluster/etcd-pods/etcd-pods.ts';

const namespace = 'etcd-killed';
const bench = operatedNamespace(namespace);
let hosted: KubeClient;
beforeAll(async () => {
  await bench.create('c1', single);
  await bench.untilReady('c1', 240_000);
  await bench.stopOperator();
  hosted = await bench.hosted('c1');
});
afterAll(() => hosted?.connection.close());

/** Runs operators one after the other, each killed after its first write. @returns how many were killed */
async function killedUntil(isDone: () => Promise<boolean>): Promise<number> {
  let kills = 0;
  while (await bench.runUntilKilled(1, isDone, 180_000)) kills++;
  return kills;
}

const isReadyWith = (count: number, isNew: (id: string) => boolean) => async () => {
  const { status } = await bench.get('c1');
  const members = status?.etcd?.members ?? [];
  const isReady = ['Ready', 'EtcdClusterHealthy'].every((type) =>
    status?.conditions?.some((condition) => condition.type === type && condition.status === 'True'),
  );
  return isReady && members.length === count && members.every(({ id }) => id !== undefined && isNew(id));
};

test('operators that are killed after each of their writes still create three members, and replace a lost one', async () => {
  const etcd = new EtcdPods(bench, 'c1');
  const writer = new NumberedConfigMaps({ client: hosted });
  await writer.untilMore(20);
  const start = performance.now();

  await bench.patch('c1', { spec: { etcd: { replicas: 3 } } });
  const growing = await killedUntil(isReadyWith(3, () => true));
  const lost = (await etcd.members())[1];
  await etcd.loseVolume(lost?.name ?? '');
  const mending = await killedUntil(isReadyWith(3, (id) => id !== lost?.id));

  const seconds = (performance.now() - start) / 1000;
  await writer.untilMore(20);
  await writer.stop();
  expect(await writer.lost()).toEqual([]);
  expect(Math.min(growing, mending)).toBeGreaterThan(3);
  expect((await etcd.claims()).length).toBe(3);
  await recordFault({
    fault: 'operator killed again and again while etcd grows from 1 to 3 members and replaces a lost one',
    observed: `each of ${growing + mending} continues where the last one was; longest stall of a write ${(writer.longestStallMs / 1000).toFixed(1)} s`,
    recoverySeconds: seconds,
    dataLost: 'none',
  });
});
