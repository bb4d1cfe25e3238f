import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeClient } from '../../../../reconciler/kube/client.ts';
import { isReady } from '../../../../reconciler/kube/readiness.ts';
import { EtcdPods } from '../../../cluster/etcd-pods/etcd-pods.ts';
import { recordFault } from '../../../support/fault-table.ts';
import { borrow } from '../../../support/lent/borrow.ts';
import { until } from '../../../support/until.ts';
import { whileWriting } from '../../../support/while-writing.ts';

// it never gets one member again
const bench = borrow('plain', { forGood: true });
let hosted: KubeClient;
const etcd = () => new EtcdPods(bench, 'c1');
beforeAll(async () => {
  hosted = await bench.hosted('c1');
  await bench.patch('c1', { spec: { etcd: { replicas: 3 } } });
  await etcd().untilMembers(3, 180_000);
});
afterAll(() => hosted?.connection.close());

const victims: readonly [who: string, names: () => Promise<string[]>][] = [
  ['the leader', async () => [await etcd().leader()]],
  ['all three', async () => (await etcd().members()).map(({ name }) => name)],
];
test.each(victims)('of 3 members %s may be killed, and no acknowledged write is lost', async (who, names) => {
  const { seconds, stallMs, lost } = await whileWriting(hosted, async () => {
    const killed = await names();
    const before = await Promise.all(killed.map((name) => etcd().restarts(name)));
    await etcd().kill(...killed);
    await Promise.all(killed.map((name, index) => etcd().untilRestarted(name, before[index] ?? 0)));
    await etcd().untilMembers(3);
  });
  expect(lost).toEqual([]);
  await recordFault({
    fault: `kill -9 of ${who} of three etcd members`,
    observed: `the kubelet restarts it; longest stall of a write ${(stallMs / 1000).toFixed(1)} s`,
    recoverySeconds: seconds,
    dataLost: 'none',
  });
});

test('of 3 members a new template is rolled out to one member at a time, each once', async () => {
  const order: string[] = [];
  const uids = new Map((await etcd().pods()).map(({ metadata }) => [metadata.name, metadata.uid]));
  const wereReady = new Set<string | undefined>(uids.values());
  let mostAway = 0;
  const { seconds, stallMs, lost } = await whileWriting(hosted, async () => {
    await bench.patch('c1', { spec: { etcd: { args: { 'snapshot-count': '20000' } } } });
    await until(
      'all pods to be replaced',
      async () => {
        const pods = await etcd().pods();
        for (const pod of pods) if (isReady(pod)) wereReady.add(pod.metadata.uid);
        // On a busy machine a probe may be late: only a deleted pod whose successor does not exist yet counts as missing.
        const present = pods.filter(({ metadata }) => !metadata.deletionTimestamp && wereReady.has(metadata.uid));
        mostAway = Math.max(mostAway, 3 - present.length);
        for (const { metadata } of pods) {
          if (metadata.uid === uids.get(metadata.name)) continue;
          uids.set(metadata.name, metadata.uid);
          order.push(metadata.name);
        }
        return order.length === 3;
      },
      180_000,
    );
    await etcd().untilMembers(3);
  });
  // On a busy machine etcd may change its leader at any time; a test without other events asserts the order.
  expect(order.toSorted()).toEqual(['c1-etcd-0', 'c1-etcd-1', 'c1-etcd-2']);
  expect(mostAway).toBe(1);
  expect(lost).toEqual([]);
  await recordFault({
    fault: 'rolling restart of three etcd members by a change of etcd.args',
    observed: `one member at a time, a leader after it handed over; longest stall of a write ${(stallMs / 1000).toFixed(1)} s`,
    recoverySeconds: seconds,
    dataLost: 'none',
  });
});
