import { z } from 'zod';
import { type Clock, pause, systemClock } from '../kube/clock.ts';
import type { ObjectStore } from './store/object-store.ts';
import { StoreError } from './store/store-error.ts';

/**
 * Whose the data of a backup are, as an object beside the snapshot. After a move by `clusterctl` that was interrupted, two
 * HostedControlPlanes in two management clusters may have the same data. They share nothing but the bucket.
 */
const MoveLock = z.object({
  /** Increased when a reader of this version would misinterpret a lock. */
  formatVersion: z.literal(1),
  /** Of the HostedControlPlane that goes on with the data. */
  uid: z.string().regex(/^[0-9A-Za-z-]{1,64}$/, 'must be a uid'),
});

/** Longest time from the look for another lock to the end of the write of an own one, in a store that ignores conditions. */
const writingMs = 10_000;

/**
 * Takes the lock for one of the HostedControlPlanes that may have the data: the first one gets it for good. A store that writes a lock
 * over another one gives it to the last of those that take it at the same time. Each of them then waits until the others have written
 * theirs, and reads again.
 * @param uid of the HostedControlPlane that asks
 * @returns the uid of the one that has the lock
 */
export async function takeMoveLock(
  store: ObjectStore,
  { key, backup, uid }: { readonly key: string; readonly backup: string; readonly uid: string },
  signal: AbortSignal = new AbortController().signal,
  clock: Clock = systemClock,
): Promise<string> {
  const read = async () => MoveLock.parse(JSON.parse(await store.getText(key, signal))).uid;
  const lock = { formatVersion: 1, uid } satisfies z.output<typeof MoveLock>;
  const write = () => store.createText(key, `${JSON.stringify(lock, undefined, 2)}\n`, signal);
  const began = clock.elapsed();
  const found = await read().catch(ifMissing);
  if (found !== undefined && found !== uid) return found;
  if (found === undefined && (await write()) === 'exists') return read();
  // A store that keeps the condition refuses the second lock, of whom the first one ever was.
  if ((await write()) === 'exists') return read();
  if (clock.elapsed() - began > writingMs)
    throw new StoreError(
      'Stalled',
      `cannot claim the data of backup ${backup}: the store took more than ${writingMs / 1000} s, and another claim may be under way: the operator tries again`,
    );
  await pause(clock, writingMs, signal);
  signal.throwIfAborted();
  return read();
}

function ifMissing(error: unknown): undefined {
  if (!(error instanceof StoreError) || error.reason !== 'ObjectNotFound') throw error;
}
