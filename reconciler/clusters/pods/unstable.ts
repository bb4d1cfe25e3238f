import type { ContainerStatus, PodObject } from '../../../imports/kubernetes.ts';
import { hasEnded } from '../../kube/readiness.ts';
import { terminationMessage } from '../../kube/termination-message.ts';

/** So many ends of a container, the last ones soon after each other, are no accident. */
const fewestEnds = 3;
/** A container that has run for longer than any back-off of the kubelet is not in a crash loop. */
const longestMs = 10 * 60_000;
const shortestMs = 60_000;

/** Containers that may be ready now, and end again and again. */
export interface Unstable {
  readonly message: string;
  /** When the first of them will have run for long enough to be believed. */
  readonly until: Date;
}

/**
 * Containers that have ended several times, and have not run for twice as long as the last time yet: what is ready for ten seconds
 * and exits, again and again, is not ready.
 */
export function unstableOf(pods: readonly PodObject[], now: Date): Unstable | undefined {
  const found = pods
    .filter((pod) => !hasEnded(pod) && !pod.metadata.deletionTimestamp)
    .flatMap((pod) => (pod.status?.containerStatuses ?? []).map((container) => ({ pod, container })))
    .flatMap(({ pod, container }) => {
      const until = believedFrom(container);
      return until !== undefined && until > now ? [{ until, text: describe(pod, container) }] : [];
    });
  if (found.length === 0) return undefined;
  const until = new Date(Math.min(...found.map((one) => one.until.getTime())));
  return { message: found.map(({ text }) => text).join('; '), until };
}

/** When this run will have lasted for long enough; undefined for a container that is not suspected. */
function believedFrom({ restartCount = 0, state, lastState }: ContainerStatus): Date | undefined {
  const { startedAt = '', finishedAt = '' } = lastState?.terminated ?? {};
  const lastedMs = Date.parse(finishedAt) - Date.parse(startedAt);
  const since = Date.parse(state?.running?.startedAt ?? '');
  if (restartCount < fewestEnds || Number.isNaN(since) || !(lastedMs < longestMs)) return undefined;
  return new Date(since + Math.min(longestMs, Math.max(shortestMs, 2 * lastedMs)));
}

function describe({ metadata }: PodObject, { name, restartCount, lastState }: ContainerStatus): string {
  const { exitCode, message = '' } = lastState?.terminated ?? {};
  const words = terminationMessage(message);
  return `pod ${metadata.name}: container ${name} has ended ${restartCount} times, the last time with exit code ${exitCode}${words ? `: ${words}` : ''}`;
}
