import { beforeAll, expect, test } from 'vitest';
import { recordFault } from '../../support/fault-table.ts';
import { operatedNamespace } from '../../support/operated-namespace.ts';
import { until } from '../../support/until.ts';
import { single } from '../../support/workbench.ts';
import { EtcdPods } from './etcd-pods.ts';

const bench = operatedNamespace('etcd-lost-data');
beforeAll(async () => {
  await bench.create('c1', single);
  await bench.create('c3', { ...single, etcd: { replicas: 3 } });
  await Promise.all([bench.untilReady('c1', 240_000), bench.untilReady('c3', 240_000)]);
});

test('the only member does not start empty when its volume is gone, and its loss is said', async () => {
  const etcd = new EtcdPods(bench, 'c1');
  await etcd.loseVolume('c1-etcd-0');
  const { message } = await bench.untilCondition('c1', 'EtcdClusterHealthy', { reason: 'DataLost' }, 120_000);
  expect(message).toContain('the only member of etcd is gone, and nothing is started empty');
  await bench.untilCondition('c1', 'Available', { status: 'False' });
  await until('etcd to have refused to start', async () => (await etcd.restarts('c1-etcd-0')) > 1, 120_000);
  await bench.untilCondition('c1', 'EtcdClusterHealthy', { reason: 'DataLost' });
  await recordFault({
    fault: 'volume of the only etcd member deleted',
    observed: 'DataLost: nothing is started empty; the newest backup is named',
    recoverySeconds: 'never',
    dataLost: 'all since the newest backup, by who deleted it',
  });
}, 300_000);

test('without a quorum nothing is guessed: what is lost and what there is to go on from is said', async () => {
  const etcd = new EtcdPods(bench, 'c3');
  await etcd.untilMembers(3);
  const ids = (await etcd.members()).map(({ id }) => id);
  await Promise.all(['c3-etcd-1', 'c3-etcd-2'].map((name) => etcd.loseVolume(name)));
  // Until the member that is left answers in time nothing can be said of it.
  const gone = /data of c3-etcd-1 and c3-etcd-2 is gone, and 1 of 3 is no quorum.* revision \d+ of c3-etcd-0/;
  const lost = { reason: 'QuorumLost', message: gone };
  const { message } = await bench.untilCondition('c3', 'EtcdClusterHealthy', lost, 120_000);
  expect(message).toMatch(/revision \d+ of c3-etcd-0: etcd.recovery.acceptDataLossTo decides/);
  await bench.untilCondition('c3', 'Available', { status: 'False' });
  for (const name of ['c3-etcd-1', 'c3-etcd-2']) {
    await until(`${name} to have refused to start`, async () => (await etcd.restarts(name)) > 1, 120_000);
  }
  await bench.untilCondition('c3', 'EtcdClusterHealthy', { reason: 'QuorumLost' });
  expect((await etcd.members()).map(({ id }) => id)).toEqual(ids);
}, 300_000);
