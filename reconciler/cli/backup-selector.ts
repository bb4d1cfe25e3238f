import { isBareSnapshot } from '../../constructs/api/restore-spec.ts';
import type { Choice } from '../backup/choose-backup.ts';
import { parseBackupId } from '../../constructs/cluster/backup-names.ts';
import { UsageError } from './command.ts';

const example = '2026-11-21T09-15-31.123Z-4711';

/** Reads the choice of exactly one of three options. @throws UsageError */
export function readChoice(given: {
  readonly backup: string | undefined;
  readonly latest: boolean;
  readonly before: string | undefined;
}): Choice {
  const { backup, latest, before } = given;
  const count = [backup !== undefined, latest, before !== undefined].filter(Boolean).length;
  if (count !== 1)
    throw new UsageError(
      'the backup is missing or ambiguous: set exactly one of --backup NAME, --latest and --before TIME',
    );
  if (backup !== undefined) {
    if (isBareSnapshot(backup)) return { kind: 'bareSnapshot', name: backup };
    if (parseBackupId(backup)) return { kind: 'backup', id: backup };
    throw new UsageError(`--backup must be a name that hcp backups lists, such as ${example}, not "${backup}"`);
  }
  if (before === undefined) return { kind: 'latest' };
  // Date.parse alone accepts "yesterday, 5" as the year 2005, and times without a zone.
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(before);
  if (isTime && !Number.isNaN(Date.parse(before))) return { kind: 'before', before };
  throw new UsageError(`--before must be a time with its zone, such as 2026-11-21T09:00:00Z, not "${before}"`);
}
