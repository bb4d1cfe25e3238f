import type { PodObject } from '../../../imports/kubernetes.ts';

/**
 * How long a running client may take to present a renewed certificate, which cannot be queried: a kubelet writes the
 * file within two minutes, and client-go reads it every five minutes.
 */
export const reloadDelayMs = 8 * 60_000;

/** The same for files that are read for each connection, or when they have changed. */
export const soonerMs = 3 * 60_000;

/** A pod that was created this soon afterwards may still have the previous content. */
const writtenMs = 5_000;

/** Whether a pod is so old that it may have the previous content of a Secret. */
export function isOlderThan({ metadata }: PodObject, written: Date): boolean {
  const time = Date.parse(metadata.creationTimestamp ?? '');
  // A pod without a creation time counts as old.
  return Number.isNaN(time) || time < written.getTime() + writtenMs;
}
