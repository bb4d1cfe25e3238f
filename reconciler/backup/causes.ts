import type { BackupName } from '../../constructs/cluster/backup-names.ts';
import { isNewer } from './order.ts';

/**
 * What requests a backup besides the schedule, as text that a manifest stores: after a process was killed after the
 * upload, or the status was lost, the request must not lead to another backup.
 */
export type BackupCause = `request:${string}` | `change:${string}` | `deletion:${string}`;

/** The user's annotation, by its text. */
export function requestCause(text: string): BackupCause {
  // The maximum length in the status.
  return `request:${text.slice(0, 256)}`;
}

/** A change of a minor version, such as `Kubernetes 1.35 to 1.36`. */
export function changeCause(change: string): BackupCause {
  return `change:${change}`;
}

/** The deletion of the HostedControlPlane with this uid. */
export function deletionCause(uid: string): BackupCause {
  return `deletion:${uid}`;
}

/** Where the status was lost: a version change may have been requested before and withdrawn. */
const changeHoldsMs = 60 * 60_000;

/** An existing backup. */
interface ExistingBackup extends BackupName {
  readonly takenFor: readonly string[];
}

/**
 * The causes that a backup satisfies. A change of version is satisfied by a recent backup that the status does not know yet: the
 * process that took it was killed before it could say so. One that the status knows was taken for a change that was withdrawn,
 * and what was written since is not in it.
 * @param lastKnown the newest backup that the status knows
 */
export function satisfiedCauses(
  causes: readonly BackupCause[],
  { takenFor, time, revision }: ExistingBackup,
  { now, lastKnown }: { readonly now: number; readonly lastKnown: BackupName | undefined },
): readonly BackupCause[] {
  const isRecent = Math.abs(now - time) <= changeHoldsMs;
  const isOfThisChange = isRecent && (lastKnown === undefined || isNewer({ time, revision }, lastKnown));
  return causes.filter((cause) => takenFor.includes(cause) && (!cause.startsWith('change:') || isOfThisChange));
}
