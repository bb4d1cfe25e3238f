import { backOff } from '../kube/back-off.ts';
import type { KubernetesApi } from '../kube/client.ts';
import { type Clock, pause } from '../kube/clock.ts';
import { messageOf } from '../kube/error-message.ts';
import { isAway, isTooMany } from '../kube/errors.ts';
import type { Logger } from '../engine/log.ts';

const delays = { firstMs: 250, longestMs: 5_000 };

/**
 * Resolves when the API server answers anything. A process that ended instead would be started again by the kubelet after pauses of up to
 * five minutes, in which the API server may have returned.
 */
export async function untilAnswering(
  client: Pick<KubernetesApi, 'raw'>,
  clock: Clock,
  log: Pick<Logger, 'warn' | 'info'>,
): Promise<void> {
  for (let failures = 0; ; failures++) {
    try {
      await client.raw('/version', { deadlineMs: 10_000 });
    } catch (error) {
      // One that starts refuses some requests by their number.
      if (isAway(error) || isTooMany(error)) {
        if (failures === 0) log.warn({ message: messageOf(error) }, 'waiting for the management API server');
        await pause(clock, backOff(delays, failures + 1), new AbortController().signal);
        continue;
      }
    }
    if (failures > 0) log.info({}, 'the management API server answers');
    return;
  }
}
