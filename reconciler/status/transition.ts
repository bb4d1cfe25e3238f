import { conditions } from '../../constructs/api/conditions.ts';
import type { EventRecorder } from '../kube/events.ts';
import { objectKey } from '../kube/object.ts';
import type { Transition } from './writer.ts';
import type { Logger } from '../telemetry/log.ts';

/** Tells people that a condition has changed: one log line, and an event on the object. */
export function tellTransition(transition: Transition, log: Logger, events: Pick<EventRecorder, 'record'>): void {
  const { object, type, verdict } = transition;
  const fields = {
    hostedControlPlane: objectKey(object.metadata),
    condition: type,
    status: verdict.status,
    reason: verdict.reason,
    ...(verdict.message ? { message: verdict.message } : {}),
  };
  const failed = verdict.reason === 'ReconcileFailed';
  log[failed ? 'warn' : 'info'](fields, 'condition changed');

  if (!isEvent(transition)) return;
  events.record(object, {
    type: warnings.includes(verdict.reason) ? 'Warning' : 'Normal',
    reason: verdict.status === 'True' ? type : verdict.reason,
    action: type,
    note: verdict.message || conditions[type].meaning,
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
function isEvent({ type, verdict }: Transition): boolean {
  const isTrue = verdict.status === 'True';
  if (type === 'Deleting' || type === 'Paused' || type === 'Available') return isTrue;
  if (type === 'Ready') return isTrue || verdict.reason !== 'NotReady';
  if (type === 'EtcdBackupVerified') return !isTrue && verdict.reason !== 'Verifying';
  return type.endsWith('Ready') && verdict.reason !== 'WaitingForOtherPhases';
}
