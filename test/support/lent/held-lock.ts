import { withLock } from '../../testbed/lock.ts';

/** Takes a lock file, and resolves with what releases it: for work that begins and ends in two hooks. */
export async function holdLock(path: string, onWait: (holder: number) => void): Promise<() => Promise<void>> {
  const taken = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const holding = withLock(path, onWait, () => {
    taken.resolve();
    return ended.promise;
  });
  await Promise.race([taken.promise, holding]);
  return () => {
    ended.resolve();
    return holding;
  };
}
