import { isBareSnapshot, type Restore } from '../../constructs/api/restore-spec.ts';
import { backupId, parseBackupId, type BackupName, type BackupOwner } from '../../constructs/cluster/backup-names.ts';
import { takenBefore } from './order.ts';
import { contemporary, type MarkedBackup } from './ownership.ts';

/** The user's choice of a backup. */
export type Choice = BackupChoice | BareSnapshotChoice;

/** A snapshot without a manifest, which only its name selects. */
export interface BareSnapshotChoice {
  readonly kind: 'bareSnapshot';
  readonly name: string;
}

/** A backup of this provider. */
export type BackupChoice =
  | { readonly kind: 'backup'; readonly id: string }
  | { readonly kind: 'latest' }
  /** `before` as the user wrote it, a time with its zone. */
  | { readonly kind: 'before'; readonly before: string };

/** The choice of these fields, exactly one of which is set. */
export function choiceOf({ backup, before }: Pick<Restore, 'backup' | 'before'>): Choice {
  if (backup !== undefined)
    return isBareSnapshot(backup) ? { kind: 'bareSnapshot', name: backup } : { kind: 'backup', id: backup };
  return before === undefined ? { kind: 'latest' } : { kind: 'before', before };
}

/** The chosen backup; undefined if it does not exist. `backups` are sorted newest first. */
export function chosenBackup<T extends MarkedBackup>(choice: BackupChoice, backups: readonly T[]): T | undefined {
  switch (choice.kind) {
    case 'backup': {
      const name = parseBackupId(choice.id);
      return backups.find(({ time, revision }) => time === name?.time && revision === name.revision);
    }
    case 'latest':
      return backups[0];
    case 'before':
      return takenBefore(backups, Date.parse(choice.before));
  }
}

/** The chosen backup, or why none is chosen. */
type Chosen<T> =
  | { readonly kind: 'chosen'; readonly backup: T }
  | { readonly kind: 'none' }
  /** Only others of this name have such a backup. */
  | { readonly kind: 'foreign'; readonly newest: T }
  /** Several control planes wrote at the same time, so that the newest backup may be of either. */
  | { readonly kind: 'ambiguous'; readonly newest: T; readonly other: T };

/** Backups of one folder by their owner, sorted newest first. */
interface OwnAndForeign<T> {
  readonly own: readonly T[];
  readonly foreign: readonly T[];
}

/**
 * The chosen backup of a folder. A name selects any backup. A time, and the newest, select its own; those of others only
 * if it has none and may start with them, and one control plane followed the other.
 * @param mayBeForeign the user names the folder, or there is no etcd yet
 */
export function chooseOwnFirst<T extends MarkedBackup>(
  choice: BackupChoice,
  { own, foreign }: OwnAndForeign<T>,
  mayBeForeign: boolean,
): Chosen<T> {
  const asked = chosenBackup(choice, choice.kind === 'backup' ? [...own, ...foreign] : own);
  if (asked) return { kind: 'chosen', backup: asked };
  const newest = chosenBackup(choice, foreign);
  if (!newest) return { kind: 'none' };
  if (!mayBeForeign || own.length > 0) return { kind: 'foreign', newest };
  const candidates = foreign.filter(({ time }) => time <= newest.time);
  const isSame = ({ owner }: T): boolean => owner === newest.owner;
  const other = contemporary(
    candidates.filter(isSame),
    candidates.filter((backup) => !isSame(backup)),
  );
  return other ? { kind: 'ambiguous', newest, other } : { kind: 'chosen', backup: newest };
}

/** Why backups of others are not chosen, as a sentence for the user. */
export function describeForeign<T extends BackupName>(
  chosen: Extract<Chosen<T>, { kind: 'foreign' | 'ambiguous' }>,
  { namespace, cluster }: BackupOwner,
): string {
  const newest = backupId(chosen.newest);
  return chosen.kind === 'foreign'
    ? `the bucket contains no such backup of this control plane: ${newest} is of another one with the name ${namespace}/${cluster}; set etcd.restore.backup to its name to restore it`
    : `several control planes write backups of ${namespace}/${cluster}, the newest are ${newest} and ${backupId(chosen.other)}: set etcd.restore.backup to the name of the one to restore`;
}
