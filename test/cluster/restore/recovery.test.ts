import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigMap } from '../../../constructs/api/resources.ts';
import { BackupWorkbench, unverifiedBackup } from '../../support/backup-workbench.ts';
import { recordFault } from '../../support/fault-table.ts';
import { until } from '../../support/until.ts';
import { single } from '../../support/workbench.ts';
import { EtcdPods } from '../etcd-pods/etcd-pods.ts';

const backup = unverifiedBackup;
const fieldManager = 'test';
/** Other tests may share the processors. */
const longMs = 300_000;
let bench: BackupWorkbench;

beforeAll(async () => {
  bench = await BackupWorkbench.start({ namespace: 'recoveries' });
});
afterAll(() => bench.close());

const stored = (name: string) => ({
  apiVersion: ConfigMap.apiVersion,
  kind: ConfigMap.kind,
  metadata: { namespace: 'default', name },
});

/** Resolves with whether an object exists, once the API server answers. */
async function holds(cluster: string, name: string): Promise<boolean> {
  const hosted = await bench.hosted(cluster);
  try {
    const answer = await until(
      `the API server of ${cluster} to answer`,
      () => hosted.list(ConfigMap, { namespace: 'default' }).catch(() => undefined),
      longMs,
    );
    return answer.items.some(({ metadata }) => metadata.name === name);
  } finally {
    await hosted.connection.close();
  }
}

async function write(cluster: string, name: string): Promise<void> {
  const hosted = await bench.hosted(cluster);
  try {
    await until(`${name} to be written`, () =>
      hosted.apply(stored(name), { fieldManager, force: true }).catch(() => undefined),
    );
  } finally {
    await hosted.connection.close();
  }
}

/** Etcd is never started empty. */
async function untilRefusedToStart(etcd: EtcdPods, member: string): Promise<void> {
  await until(`${member} to have refused to start`, async () => (await etcd.restarts(member)) > 1, longMs);
}

async function untilRecovered(cluster: string): Promise<string> {
  let seen: unknown;
  return until(
    `the recovery of ${cluster}`,
    async () => {
      const { etcd, conditions } = (await bench.get(cluster)).status ?? {};
      seen = [etcd?.restore, conditions?.filter(({ type }) => type.startsWith('Etcd'))];
      return etcd?.restore?.completionTime === undefined ? undefined : etcd.restore.restoredTo;
    },
    longMs,
    () => seen,
  );
}

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
      expected: '(that of d1-etcd-0 cannot be read, its write-ahead log is damaged)',
      hurt: (etcd: EtcdPods, member: string) => etcd.damageLog(member),
    },
  ];
  test.each(losses)(
    'the only member, whose $what, does not start empty, and recovers from a backup that an administrator names',
    async (loss) => {
      const { cluster, fault, expected, hurt } = loss;
      await bench.create(cluster, { ...single, etcd: { replicas: 1, backup } });
      await bench.untilReady(cluster, longMs);
      await write(cluster, 'before');
      const id = await bench.takeBackup(cluster, 'first', longMs);
      await write(cluster, 'after');

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
      expect(await untilRecovered(cluster)).toBe(id.split('-').at(-1));
      expect(await holds(cluster, 'before')).toBe(true);
      const recoverySeconds = (performance.now() - began) / 1000;
      expect(await holds(cluster, 'after')).toBe(false);
      await bench.untilCondition(cluster, 'EtcdClusterHealthy', { status: 'True' }, longMs);
      await recordFault({
        fault: `${fault}, then etcd.recovery.acceptDataLossTo: a backup`,
        observed: 'DataLost names the backup; after an administrator accepts the loss, etcd serves its data again',
        recoverySeconds,
        dataLost: 'what was written after the backup, as accepted',
      });
    },
  );

  test('without a quorum etcd is not changed; the last member of three recovers with all its data, by exactly its revision', async () => {
    await bench.create('c3', { ...single, etcd: { replicas: 3, backup } });
    await bench.untilReady('c3', longMs);
    const etcd = new EtcdPods(bench, 'c3');
    await etcd.untilMembers(3);
    const ids = (await etcd.members()).map(({ id }) => id);
    await write('c3', 'acknowledged');

    const began = performance.now();
    const away = ['c3-etcd-1', 'c3-etcd-2'];
    await Promise.all(away.map((name) => etcd.loseVolume(name)));
    // Until the remaining member answers in time its revision is unknown.
    const gone =
      /data of c3-etcd-1 and c3-etcd-2 is gone, and 1 of 3 members is no quorum.* revision (\d+) of c3-etcd-0/;
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
    expect(await untilRecovered('c3')).toBe(String(revision));
    expect(await holds('c3', 'acknowledged')).toBe(true);
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
});
