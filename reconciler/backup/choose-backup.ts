import { parseBackupId, type BackupName } from './names.ts';

/** Which backup a person means. */
export type Choice =
  | { readonly kind: 'backup'; readonly id: string }
  | { readonly kind: 'latest' }
  /** `before` as it was typed, a time with its zone. */
  | { readonly kind: 'before'; readonly before: string };

/** The backup that is meant; undefined when there is none. `backups` are the newest first. */
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
