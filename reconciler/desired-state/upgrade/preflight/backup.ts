import { backupAnnotation } from '../../../../constructs/api/group.ts';
import type { HostedControlPlane } from '../../../../constructs/api/hosted-control-plane.ts';
import { isVerificationOverdue } from '../../../backup/verify/plan-verification.ts';
import { verificationRules } from '../../../backup/verify/inventory.ts';
import { messageOf } from '../../../kube/error-message.ts';

/**
 * Why nothing proves that a backup can be restored; undefined when something does, and when the spec asks for no proof. The backup
 * before the upgrade itself is not verified: the last verification shows that store, keys and snapshots are in order.
 */
export function backupProblem(
  { metadata, spec, status }: Pick<HostedControlPlane, 'metadata' | 'spec' | 'status'>,
  now: Date,
): string | undefined {
  const { backup } = spec.etcd;
  if (!backup || backup.verify.disabled) return undefined;
  const condition = status?.conditions?.find(({ type }) => type === 'EtcdBackupVerified');
  if (condition?.status === 'False') return condition.message;
  const last = status?.etcd?.lastVerifiedBackup;
  if (!last) {
    return 'none has been verified yet: the operator verifies the first one as soon as it is stored, which is when workers can join; wait until status.etcd.lastVerifiedBackup names it';
  }
  const identity = `${metadata.namespace}/${metadata.name}`;
  const schedule = { expression: backup.schedule, timeZone: backup.timeZone, identity };
  const times = { last: Date.parse(last.time), now: now.getTime() };
  try {
    if (!isVerificationOverdue(verificationRules(backup, identity), schedule, times)) return undefined;
  } catch (error) {
    return `etcd.backup: ${messageOf(error)}`;
  }
  return `the last verification, that of ${last.name}, was on ${last.time}, and the next one is overdue: see the condition EtcdBackupReady; to verify one now, set etcd.backup.verify.every to 1 and request a backup by the annotation ${backupAnnotation}`;
}
