import type { PodObject } from '../../kube/readiness.ts';

/**
 * How long it may take until a client that runs presents a certificate that was renewed, which nobody can ask it: a
 * kubelet writes the file within two minutes, and Kubernetes' own library looks at it every five minutes.
 */
export const reloadDelayMs = 8 * 60_000;

/** The same for what is read for each connection, or when the file has changed. */
export const soonerMs = 3 * 60_000;

/** A pod that was made so soon after may still have been given what was there before. */
const writtenMs = 5_000;

/** Whether a pod is so old that it may have been given what a Secret held before. */
export function isOlderThan({ metadata }: PodObject, written: Date): boolean {
  const time = Date.parse(metadata.creationTimestamp ?? '');
  // A pod that does not tell counts as an old one.
  return Number.isNaN(time) || time < written.getTime() + writtenMs;
}
