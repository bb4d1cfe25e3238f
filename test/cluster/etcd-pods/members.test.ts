import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import { recordFault } from '../../support/fault-table.ts';
import { borrow } from '../../support/lent/borrow.ts';
import { whileWriting } from '../../support/while-writing.ts';
import { EtcdPods } from './etcd-pods.ts';

// the last file that has the control plane of `life`: it never gets one member again, and is deleted
const bench = borrow('plain', { forGood: true });
let hosted: KubeClient;
const etcd = () => new EtcdPods(bench, 'c1');
beforeAll(async () => {
  hosted = await bench.hosted('c1');
});
afterAll(() => hosted?.connection.close());

test('1 member becomes 3 during writes, and no acknowledged write is lost', async () => {
  const { lost } = await whileWriting(hosted, async () => {
    await bench.patch('c1', { spec: { etcd: { replicas: 3 } } });
    await etcd().untilMembers(3, 180_000);
  });
  expect(lost).toEqual([]);
});

describe('of 3 members', () => {
  test('one whose volume was deleted joins again, and no acknowledged write is lost', async () => {
    const name = await etcd().leader();
    const { seconds, stallMs, lost } = await whileWriting(hosted, () =>
      etcd().untilReplaced(name, () => etcd().loseVolume(name)),
    );
    expect(lost).toEqual([]);
    await recordFault({
      fault: 'volume of the leader of three etcd members deleted',
      observed: `removed, added as a learner and promoted automatically when it has caught up; longest stall of a write ${(stallMs / 1000).toFixed(1)} s`,
      recoverySeconds: seconds,
      dataLost: 'none',
    });
  });
});

test('with the rights of an installation for its namespace a control plane that many have used is gone after its deletion', async () => {
  await bench.delete('c1');
  expect(await bench.everything()).toEqual([]);
  expect(bench.operator.requests.filter(({ code }) => code === 401 || code === 403)).toEqual([]);
});
