import type { Backup } from '../../../constructs/api/backup-spec.ts';
import type { Work } from '../../engine/tasks/background-work.ts';
import { type Failure, findTask, retryTime } from '../../engine/tasks/task.ts';
import { type BackupFailure, backupFailure } from '../failure.ts';
import { backOffMs } from '../plan-backup.ts';
import type { StoreReader } from './store-access.ts';
import { ownBackups, withBackups } from '../with-backups.ts';

/** What a check of a store works with. */
interface StoreCheckContext {
  readonly cluster: { readonly name: string; readonly namespace: string };
  readonly work: Work;
  readonly now: Date;
  readonly storeReader: StoreReader;
}

/** What is known of a store between two backups. */
export type StoreCheck =
  /** No check has ended, or another one has begun. */
  | { readonly kind: 'running' }
  | { readonly kind: 'passed'; readonly nextTime: Date }
  /** It would refuse a backup. */
  | { readonly kind: 'refused'; readonly failure: BackupFailure; readonly nextTime: Date };

/** Name of the background task. */
export const storeCheckWork = 'backup-store';

const retryMs = ({ error, failures }: Failure): number => backOffMs(error, failures);

/** One list request each hour costs nothing, and a store refuses seldom. */
const validMs = 60 * 60_000;

/**
 * Checks a store between backups, so that a user learns of a Secret, bucket or credentials that are refused before an
 * upgrade waits for a backup. Only a backup shows whether the store accepts writes.
 */
export function storeCheck({ cluster, work, now, storeReader }: StoreCheckContext, spec: Backup): StoreCheck {
  const { secret, webIdentity, encryption } = spec;
  const task = findTask<void>(work, now, {
    name: storeCheckWork,
    inputsKey: JSON.stringify([secret, webIdentity, encryption]),
    retryMs,
    holdsMs: () => validMs,
    supersedes: true,
    turn: 'listing',
  });
  if (task.isDue)
    task.start(({ signal }) =>
      withBackups(ownBackups({ cluster, storeReader }, spec), (backups) => backups.reach(signal)),
    );
  const { state } = task;
  if (task.isDue || state.kind === 'idle' || state.kind === 'running') return { kind: 'running' };
  if (state.kind === 'done') return { kind: 'passed', nextTime: new Date(state.at.getTime() + validMs) };
  return { kind: 'refused', failure: backupFailure(state.error), nextTime: new Date(retryTime(state, retryMs)) };
}
