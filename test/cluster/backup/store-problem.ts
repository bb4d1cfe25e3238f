import { expect } from 'vitest';
import type { BackupWorkbench } from '../../support/backup-workbench.ts';
import { recordFault } from '../../support/fault-table.ts';
import { until } from '../../support/until.ts';

/** A problem that prevents backups, and its visible effects. */
export interface Problem {
  readonly fault: string;
  readonly reason: 'StoreUnavailable' | 'BackupSecretInvalid';
  readonly message: RegExp;
  readonly cause: () => Promise<void>;
  readonly heal: () => Promise<void>;
}

/**
 * Causes the problem for a cluster: one condition must report it and nothing else, and after it is healed backups are taken
 * again.
 */
export async function tolerateProblem(
  bench: BackupWorkbench,
  cluster: string,
  { fault, reason, message, cause, heal }: Problem,
  limitMs: number,
): Promise<void> {
  const newestTime = async () => (await bench.backups(cluster).list()).backups[0]?.time ?? 0;
  await cause();
  await bench.requestBackup(cluster, `while ${fault}`);
  const condition = await bench.untilCondition(cluster, 'EtcdBackupReady', { status: 'False', reason }, limitMs);
  expect(condition.message).toMatch(message);
  // Other conditions that were False for a moment, as after a late answer of etcd, recover meanwhile.
  await until(
    'EtcdBackupReady, and nothing else, to be False',
    async () => {
      const { conditions = [] } = (await bench.get(cluster)).status ?? {};
      const away = conditions.filter(({ status, type }) => status === 'False' && /Ready$|^Available$/.test(type));
      return away.length === 1 && away[0]?.type === 'EtcdBackupReady';
    },
    limitMs,
  );
  const before = await newestTime();

  await heal();
  const healed = performance.now();
  await bench.takeBackup(cluster, `after ${fault}`, limitMs);
  await bench.untilCondition(cluster, 'EtcdBackupReady', { status: 'True' }, limitMs);
  expect(await newestTime()).toBeGreaterThan(before);
  await recordFault({
    fault,
    observed: `EtcdBackupReady False, ${reason}; Ready and Available stay True; a partial backup is never listed`,
    recoverySeconds: (performance.now() - healed) / 1000,
    dataLost: 'none',
  });
}
