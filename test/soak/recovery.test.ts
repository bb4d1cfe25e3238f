import { afterAll, beforeAll, expect, test } from 'vitest';
import { BackupWorkbench, unverifiedBackup } from '../support/backup-workbench.ts';
import { recordFault } from '../support/fault-table.ts';
import { single } from '../support/workbench.ts';
import { EtcdPods } from '../cluster/etcd-pods/etcd-pods.ts';
import { holds, longMs, untilRecovered, untilRefusedToStart, write } from '../cluster/restore/recoveries.ts';

const backup = unverifiedBackup;
let bench: BackupWorkbench;

beforeAll(async () => {
  bench = await BackupWorkbench.start({ namespace: 'recoveries' });
});
afterAll(() => bench.close());

test('without a quorum etcd is not changed; the last member of three recovers with all its data, by exactly its revision', async () => {
  await bench.create('c3', { ...single, etcd: { replicas: 3, backup } });
  await bench.untilReady('c3', longMs);
  const etcd = new EtcdPods(bench, 'c3');
  await etcd.untilMembers(3);
  const ids = (await etcd.members()).map(({ id }) => id);
  await write(bench, 'c3', 'acknowledged');

  const began = performance.now();
  const away = ['c3-etcd-1', 'c3-etcd-2'];
  await Promise.all(away.map((name) => etcd.loseVolume(name)));
  // Until the remaining member answers in time its revision is unknown.
  const gone = /data of c3-etcd-1 and c3-etcd-2 is gone, and 1 of 3 members is no quorum.* revision (\d+) of c3-etcd-0/;
  const lost = { reason: 'QuorumLost', message: gone };
  const { message } = await bench.untilCondition('c3', 'EtcdClusterHealthy', lost, longMs);
  const revision = Number(gone.exec(message)?.[1]);
  expect(message).toMatch(/revision \d+ of c3-etcd-0(, and backup \S+)?: set etcd\.recovery\.acceptDataLossTo/);
  await bench.untilCondition('c3', 'Available', { status: 'False' });
  await Promise.all(away.map((name) => untilRefusedToStart(etcd, name)));
  await bench.untilCondition('c3', 'EtcdClusterHealthy', lost);
  expect((await etcd.members()).map(({ id }) => id)).toEqual(ids);

  await bench.patch('c3', { spec: { etcd: { recovery: { acceptDataLossTo: String(revision - 1) } } } });
  const unusable = { reason: 'BackupUnusable', message: /the newest reachable member/ };
  const refused = await bench.untilCondition('c3', 'EtcdRestoreReady', unusable, longMs);
  expect(refused.message).toContain(`is revision ${revision - 1}, but the newest reachable member c3-etcd-0 has`);
  expect(refused.message).toContain(`has revision ${revision}`);

  await bench.patch('c3', { spec: { etcd: { recovery: { acceptDataLossTo: String(revision) } } } });
  expect(await untilRecovered(bench, 'c3')).toBe(String(revision));
  expect(await holds(bench, 'c3', 'acknowledged')).toBe(true);
  const recoverySeconds = (performance.now() - began) / 1000;
  await bench.untilCondition('c3', 'EtcdClusterHealthy', { status: 'True' }, longMs);
  expect((await etcd.members()).length).toBe(3);
  await recordFault({
    fault:
      'volumes of two of three etcd members deleted, then etcd.recovery.acceptDataLossTo: the revision that is left',
    observed:
      'QuorumLost names the revision; another one is refused; the provider backs up the remaining member and restores it to all three',
    recoverySeconds,
    dataLost: 'none',
  });
});
