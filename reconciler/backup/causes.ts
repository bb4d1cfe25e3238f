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

/** A version change may have been requested before and withdrawn. Only a recent backup satisfies it. */
const changeHoldsMs = 60 * 60_000;

/** The causes that a backup of this age satisfies, if it was taken for `takenFor`. */
export function satisfiedCauses(
  causes: readonly BackupCause[],
  takenFor: readonly string[],
  ageMs: number,
): readonly BackupCause[] {
  return causes.filter((cause) => takenFor.includes(cause) && (!cause.startsWith('change:') || ageMs <= changeHoldsMs));
}
