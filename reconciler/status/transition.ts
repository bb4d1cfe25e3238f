import { conditions } from '../../constructs/api/conditions.ts';
import type { EventRecorder } from '../kube/events.ts';
import { objectKey } from '../kube/object.ts';
import type { Transition } from './writer.ts';
import type { Logger } from '../telemetry/log.ts';

/** Tells people that a condition has changed: one log line, and an event on the object. */
export function reportTransition(transition: Transition, log: Logger, events: Pick<EventRecorder, 'record'>): void {
  const { object, type, update } = transition;
  const fields = {
    hostedControlPlane: objectKey(object.metadata),
    condition: type,
    status: update.status,
    reason: update.reason,
    ...(update.message ? { message: update.message } : {}),
  };
  const failed = update.reason === 'ReconcileFailed';
  log[failed ? 'warn' : 'info'](fields, 'condition changed');

  if (!isEvent(transition)) return;
  events.record(object, {
    type: warnings.includes(update.reason) ? 'Warning' : 'Normal',
    reason: update.status === 'True' ? type : update.reason,
    action: type,
    note: update.message || conditions[type].meaning,
  });
}

/** What somebody should look at before it becomes worse. */
const warnings: readonly string[] = [
  'ReconcileFailed',
  'InvalidConfiguration',
  'BackupUnusable',
  'BackupFailed',
  'BackupSecretInvalid',
  'StoreUnavailable',
  'CAExpiring',
];

/** Steps, and what matters to whoever uses the cluster. What waits for other steps or repeats them tells nothing new. */
function isEvent({ type, update }: Transition): boolean {
  const isTrue = update.status === 'True';
  if (type === 'Deleting' || type === 'Paused' || type === 'Available') return isTrue;
  if (type === 'Ready') return isTrue || update.reason !== 'NotReady';
  if (type === 'EtcdBackupVerified') return !isTrue && update.reason !== 'Verifying';
  return type.endsWith('Ready') && update.reason !== 'WaitingForOtherPhases';
}
