import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BackupWorkbench, unverifiedBackup } from '../support/backup-workbench.ts';
import { recordFault } from '../support/fault-table.ts';
import { single } from '../support/workbench.ts';
import { EtcdPods } from '../cluster/etcd-pods/etcd-pods.ts';
import { holds, longMs, untilRecovered, untilRefusedToStart, write } from '../cluster/restore/recoveries.ts';

const backup = unverifiedBackup;
let bench: BackupWorkbench;

beforeAll(async () => {
  bench = await BackupWorkbench.start({ namespace: 'lost-data' });
});
afterAll(() => bench.close());

// In parallel: they mostly wait for pods that start, stop, and time out.
describe.concurrent('etcd', () => {
  const losses = [
    {
      cluster: 'c1',
      what: 'volume is gone',
      fault: 'volume of the only etcd member deleted',
      expected: 'the data of the only member of etcd is gone, and the operator does not start an empty etcd',
      hurt: (etcd: EtcdPods, member: string) => etcd.loseVolume(member),
    },
    {
      cluster: 'd1',
      what: 'log is damaged',
      fault: 'a byte of the write-ahead log of the only etcd member changed on its disk, and it is killed',
      expected: '(the data of d1-etcd-0 cannot be read, its write-ahead log is damaged)',
      hurt: (etcd: EtcdPods, member: string) => etcd.damageLog(member),
    },
  ];
  test.each(losses)(
    'the only member, whose $what, does not start empty, and recovers from a backup that an administrator names',
    async (loss) => {
      const { cluster, fault, expected, hurt } = loss;
      await bench.create(cluster, { ...single, etcd: { replicas: 1, backup } });
      await bench.untilReady(cluster, longMs);
      await write(bench, cluster, 'before');
      const id = await bench.takeBackup(cluster, 'first', longMs);
      await write(bench, cluster, 'after');

      const began = performance.now();
      const etcd = new EtcdPods(bench, cluster);
      await hurt(etcd, `${cluster}-etcd-0`);
      const { message } = await bench.untilCondition(cluster, 'EtcdClusterHealthy', { reason: 'DataLost' }, longMs);
      expect(message).toContain(expected);
      expect(message).toContain(`backup ${id}: set etcd.recovery.acceptDataLossTo`);
      await bench.untilCondition(cluster, 'Available', { status: 'False' });
      await untilRefusedToStart(etcd, `${cluster}-etcd-0`);
      await bench.untilCondition(cluster, 'EtcdClusterHealthy', { reason: 'DataLost' });
      await recordFault({
        fault,
        observed: 'DataLost names the newest backup; no member starts with empty data',
        recoverySeconds: 'never',
        dataLost: 'everything since the newest backup, deleted by the fault itself',
      });
      await bench.patch(cluster, { spec: { etcd: { recovery: { acceptDataLossTo: id } } } });
      expect(await untilRecovered(bench, cluster)).toBe(id.split('-').at(-1));
      expect(await holds(bench, cluster, 'before')).toBe(true);
      const recoverySeconds = (performance.now() - began) / 1000;
      expect(await holds(bench, cluster, 'after')).toBe(false);
      await bench.untilCondition(cluster, 'EtcdClusterHealthy', { status: 'True' }, longMs);
      await recordFault({
        fault: `${fault}, then etcd.recovery.acceptDataLossTo: a backup`,
        observed: 'DataLost names the backup; after an administrator accepts the loss, etcd serves its data again',
        recoverySeconds,
        dataLost: 'what was written after the backup, as accepted',
      });
    },
  );
});
