/**
 * What asks for a backup besides the schedule, as text that a manifest keeps: a process that is killed after the upload,
 * or a status that is lost, must not lead to another one.
 */
export type BackupCause = `request:${string}` | `change:${string}` | `deletion:${string}`;

/** The user's annotation, by its text. */
export function requestCause(text: string): BackupCause {
  // The status takes no more.
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

/** A change of version may have been asked for before, and taken back: only a backup of just now is one for it. */
const changeHoldsMs = 60 * 60_000;

/** Which causes a backup of this age that was taken for `takenFor` has satisfied. */
export function satisfiedCauses(
  causes: readonly BackupCause[],
  takenFor: readonly string[],
  ageMs: number,
): readonly BackupCause[] {
  return causes.filter((cause) => takenFor.includes(cause) && (!cause.startsWith('change:') || ageMs <= changeHoldsMs));
}
