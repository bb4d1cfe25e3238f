import { StoreError } from '../store/store-error.ts';
import { messageOf } from '../../kube/error-message.ts';
import { InvalidConfiguration, type Outcome } from '../../engine/outcome.ts';
import { findTask } from '../../engine/tasks/task.ts';
import type { RestoreContext } from './restore-context.ts';
import { type Blocker, reportBlocker } from './blocker.ts';
import { prepareBackup } from './prepare.ts';
import type { PreparedBackup } from './prepared-backup.ts';
import { BackupNotFound } from './refusals.ts';
import { isBegun, prepareWork, type Restoring } from './restoring.ts';
import { placeMissing, restoreSourceOf } from './source.ts';

/** Retry interval for changes that no watch reports, such as a store that is available again. */
export const retryMs = 30_000;

/** Chooses and checks the backup in the background, and reports the progress. */
export function prepare(scope: RestoreContext, restoring: Restoring): Outcome {
  const { work, now } = scope;
  const { request, record } = restoring;
  const isChecked = isBegun(request, record);
  const task = findTask<PreparedBackup>(work, now, {
    name: prepareWork,
    inputsKey: request.id,
    retryMs,
    // The prepared backup is used immediately, or is prepared again.
    holdsMs: () => 0,
    supersedes: true,
    turn: 'restore',
  });
  if (!scope.cluster.spec.etcd.backup)
    return reportBlocker(scope, restoring, { reason: 'BackupSecretInvalid', message: placeMissing });
  const { state } = task;
  if (state.kind === 'failed' && !task.isDue) {
    return reportBlocker(scope, restoring, failureOf(state.error), retryMs);
  }
  if (task.isDue) {
    const source = restoreSourceOf(scope, restoring);
    task.start((context) => prepareBackup(source, { isChecked }, context));
  }
  const progress = state.kind === 'running' ? state.progress : 'choosing the backup';
  return reportBlocker(scope, restoring, { reason: 'CheckingBackup', message: progress });
}

function failureOf(error: unknown): Blocker {
  const message = messageOf(error);
  if (error instanceof BackupNotFound) return { reason: 'BackupNotFound', message };
  if (error instanceof InvalidConfiguration) return { reason: error.reason, message };
  if (error instanceof StoreError && error.reason !== 'ObjectNotFound') return { reason: 'StoreUnavailable', message };
  return { reason: 'BackupUnusable', message };
}
