import type { BackupName } from '../../constructs/cluster/backup-names.ts';
import type { MarkedBackup } from './ownership.ts';

/**
 * Backups in the order in which they were taken, the newest first: by incarnation, and within one by revision, which only grows,
 * also with a restore. Their times are those of a clock that may have been wrong.
 * @param chain uids of the incarnations that follow each other, the newest first. Backups without an owner, of earlier releases, are of
 * the first one. Without a chain, owners come by the time around which most of their backups were taken.
 */
export function newestFirst<T extends MarkedBackup>(backups: readonly T[], chain: readonly string[] = []): T[] {
  const rank = chain.length > 0 ? rankIn(chain) : rankByTime(backups);
  return backups.toSorted((one, other) => rank(one.owner) - rank(other.owner) || compare(other, one));
}

/** Whether a backup of the same incarnation was taken after another one. */
export function isNewer(one: BackupName, other: BackupName): boolean {
  return compare(one, other) > 0;
}

function compare(one: BackupName, other: BackupName): number {
  return one.revision - other.revision || one.time - other.time;
}

type Rank = (owner: string | undefined) => number;

function rankIn(chain: readonly string[]): Rank {
  // A uid that is there twice has its first place.
  const ranks = new Map(chain.map((uid, index) => [uid, index - chain.length] as const).toReversed());
  return (owner) => ranks.get(owner ?? chain[0] ?? '') ?? 0;
}

function rankByTime(backups: readonly MarkedBackup[]): Rank {
  const times = Map.groupBy(backups, ({ owner }) => owner);
  const ranks = new Map([...times].map(([owner, of]) => [owner, -median(of.map(({ time }) => time))]));
  return (owner) => ranks.get(owner) ?? 0;
}

/** One time that is far from all others does not change it. */
function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

/**
 * The newest backup that was taken before an instant. Where a time contradicts the order, the majority of the others decides
 * whether a backup is one of those before.
 * @param backups in their order, the newest first
 */
export function takenBefore<T extends MarkedBackup>(backups: readonly T[], instant: number): T | undefined {
  const isBefore = ({ time }: MarkedBackup): boolean => time < instant;
  let contradictions = backups.filter((backup) => !isBefore(backup)).length;
  let [fewest, first] = [contradictions, 0];
  for (const [index, backup] of backups.entries()) {
    contradictions += isBefore(backup) ? 1 : -1;
    if (contradictions <= fewest) [fewest, first] = [contradictions, index + 1];
  }
  return backups.slice(first).find(isBefore);
}
