import type { ControlPlaneContext } from '../management/view.ts';
import { failureReasons } from '../backup/failure.ts';
import { minorChange, type Versioned } from './version-change.ts';

/**
 * Why the minor version of Kubernetes or of etcd may not change yet, as a sentence for a condition: there is no backup for
 * that change. Undefined when it may, when nothing changes, and when no backups are asked for.
 */
export function awaitedBackup(
  what: Versioned,
  { cluster, hostedControlPlane, reader }: Pick<ControlPlaneContext, 'cluster' | 'hostedControlPlane' | 'reader'>,
): string | undefined {
  if (!cluster.spec.etcd.backup?.beforeUpgrade) return undefined;
  const change = minorChange(what, cluster, reader);
  const { etcd, conditions } = hostedControlPlane.status ?? {};
  if (change === undefined || etcd?.backup?.versionChanges?.includes(change)) return undefined;
  const condition = conditions?.find(({ type }) => type === 'EtcdBackupReady');
  const fault = condition && failureReasons.includes(condition.reason) ? `, which fails: ${condition.message}` : '';
  return `the change of ${change} waits for a backup${fault}; set etcd.backup.beforeUpgrade: false to go on without one`;
}
