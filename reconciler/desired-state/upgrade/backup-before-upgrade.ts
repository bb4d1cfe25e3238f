import { takenFor } from '../../../constructs/api/etcd-status.ts';
import { failureReasons } from '../../backup/failure.ts';
import { minorChange, type VersionContext, type Versioned } from './version-change.ts';

/**
 * Why the minor version of Kubernetes or of etcd must not change yet, as a sentence for a condition: the backup for
 * that change does not exist. Undefined when it may change, when nothing changes, and when the spec requests no backups
 * before upgrades.
 */
export function awaitedBackup(what: Versioned, context: VersionContext): string | undefined {
  const { hostedControlPlane } = context;
  if (!hostedControlPlane.spec.etcd.backup?.beforeUpgrade) return undefined;
  const change = minorChange(what, context);
  const { etcd, conditions } = hostedControlPlane.status ?? {};
  if (change === undefined || takenFor(etcd?.backup).includes(change)) return undefined;
  const condition = conditions?.find(({ type }) => type === 'EtcdBackupReady');
  const fault = condition && failureReasons.includes(condition.reason) ? `, which fails: ${condition.message}` : '';
  return `the change of ${change} waits for a backup${fault}; set etcd.backup.beforeUpgrade: false to continue without one`;
}
