import type { MemoryCluster } from './memory-cluster.ts';
import { lostAnswer } from '../memory-cluster/failures.ts';

/** Loses answers of writes that were stored. */
export interface LostAnswers {
  /** For {@link Life}, or for any other client of the cluster, before every request. */
  readonly before: () => void;
  /** The same after every write. @throws instead of the answer */
  readonly after: (action: string) => void;
  /** The writes whose answers were lost. */
  readonly lost: readonly string[];
}

/** Loses the answer to each write that has changed something, and answers the one that repeats it. */
export function everyAnswerOnce(cluster: () => Pick<MemoryCluster, 'version'>): LostAnswers {
  const repeated = new Set<string>();
  return losing(cluster, (action) => {
    if (repeated.delete(action)) return false;
    repeated.add(action);
    return true;
  });
}

/** Loses one answer. @param index of the write that has changed something, counted from 0 */
export function oneAnswer(cluster: () => Pick<MemoryCluster, 'version'>, index: number): LostAnswers {
  let count = 0;
  return losing(cluster, () => count++ === index);
}

function losing(cluster: () => Pick<MemoryCluster, 'version'>, isLost: (action: string) => boolean): LostAnswers {
  const lost: string[] = [];
  let seen = cluster().version;
  return {
    lost,
    before: () => void (seen = cluster().version),
    after(action) {
      const { version } = cluster();
      const hasChanged = version !== seen;
      seen = version;
      if (!hasChanged || !isLost(action)) return;
      lost.push(action);
      throw lostAnswer(action);
    },
  };
}
