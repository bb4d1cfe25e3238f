import { parseBackupId, type BackupName } from './names.ts';

/** The user's choice of a backup. */
export type Choice =
  | { readonly kind: 'backup'; readonly id: string }
  | { readonly kind: 'latest' }
  /** `before` as the user wrote it, a time with its zone. */
  | { readonly kind: 'before'; readonly before: string };

/** The chosen backup; undefined if it does not exist. `backups` are sorted newest first. */
export function chosenBackup<T extends BackupName>(choice: Choice, backups: readonly T[]): T | undefined {
  switch (choice.kind) {
    case 'backup': {
      const name = parseBackupId(choice.id);
      return backups.find(({ time, revision }) => time === name?.time && revision === name.revision);
    }
    case 'latest':
      return backups[0];
    case 'before':
      return backups.find(({ time }) => time < Date.parse(choice.before));
  }
}
