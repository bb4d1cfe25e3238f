import { withLock } from '../../tools/testbed/lock.ts';

/** What releases the locks that this process holds. */
const held = new Map<string, () => Promise<void>>();

/**
 * Takes a lock file, and resolves with what releases it: for work that begins and ends in two hooks. Of the files of one process, which
 * run one after the other, the one before has ended: what it holds still, because a hook of it failed before the one that releases it, it
 * loses.
 */
export async function holdLock(path: string, onWait: (holder: number) => void): Promise<() => Promise<void>> {
  await held.get(path)?.();
  const taken = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const holding = withLock(path, onWait, () => {
    taken.resolve();
    return ended.promise;
  });
  await Promise.race([taken.promise, holding]);
  const release = () => {
    if (held.get(path) === release) held.delete(path);
    ended.resolve();
    return holding;
  };
  held.set(path, release);
  return release;
}
