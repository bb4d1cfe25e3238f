import { isBareSnapshot } from '../../constructs/api/restore-spec.ts';
import type { Choice } from '../backup/choose-backup.ts';
import { parseBackupId } from '../../constructs/cluster/backup-names.ts';
import { type CommandOption, hasSwitch, type ParsedArguments, textOption, UsageError } from './command.ts';

const example = '2026-11-21T09-15-31.123Z-4711';

/** The option `--before` of a command that does this with a backup. */
export function beforeOption(does: string): CommandOption {
  const meaning = `${does} the newest backup started before this time, such as 2026-11-21T09:00:00Z`;
  return { type: 'string', value: 'TIME', meaning };
}

/**
 * Reads the choice of exactly one of the options backup, latest and before.
 * @param unset without any of them; by default one is required
 * @throws UsageError
 */
export function readChoice(given: ParsedArguments, unset?: Choice): Choice {
  const [backup, before] = [textOption(given, 'backup'), textOption(given, 'before')];
  const count = [backup !== undefined, hasSwitch(given, 'latest'), before !== undefined].filter(Boolean).length;
  if (count === 0 && unset) return unset;
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
