import { stalledError } from '../store/store-error.ts';
import type { Clock } from '../../kube/clock.ts';
import { leastSpeed, withStallTimer } from '../../kube/stall.ts';

/** The same stream of a store, which fails after a minute without progress. @param what completes "cannot ..." */
export function readTimed(
  stream: AsyncIterable<Uint8Array>,
  what: string,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): AsyncIterable<Uint8Array> {
  return withStallTimer(stream, { what, limitMs: 60_000, least: leastSpeed, clock, signal, stalled: stalledError });
}
