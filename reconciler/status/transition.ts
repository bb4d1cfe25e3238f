import { conditions } from '../../constructs/api/conditions.ts';
import type { EventRecorder } from '../kube/events.ts';
import { objectKey } from '../kube/object.ts';
import type { Transition } from './writer.ts';
import type { Logger } from '../telemetry/log.ts';

/** Reports a condition transition: one log line, and an event on the object. */
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

/** Reasons that a person should check before the problem grows. */
const warnings: readonly string[] = [
  'ReconcileFailed',
  'InvalidConfiguration',
  'BackupUnusable',
  'BackupFailed',
  'BackupSecretInvalid',
  'StoreUnavailable',
  'CAExpiring',
  'FieldsWithoutEffect',
];

/**
 * True for steps, and for conditions that matter to users of the cluster. Conditions that wait for other steps or
 * summarize them add no information.
 */
function isEvent({ type, update }: Transition): boolean {
  const isTrue = update.status === 'True';
  if (type === 'Deleting' || type === 'Paused' || type === 'Available') return isTrue;
  if (type === 'Ready') return isTrue || update.reason !== 'NotReady';
  if (type === 'SpecSupported') return !isTrue;
  if (type === 'EtcdBackupVerified') return !isTrue && update.reason !== 'Verifying';
  return type.endsWith('Ready') && update.reason !== 'WaitingForOtherPhases';
}
