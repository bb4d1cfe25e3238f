import { conditions } from '../constructs/api/conditions.ts';
import type { EventRecorder } from './kube/events.ts';
import { objectKey } from './kube/object.ts';
import type { Transition } from './status-writer.ts';
import type { Logger } from './telemetry/log.ts';

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

  // What merely waits for others tells nothing new, and summaries repeat what the steps say.
  if (verdict.reason === 'WaitingForOtherPhases' || !reported.has(type)) return;
  const note = verdict.message || conditions[type].meaning;
  events.record(object, {
    type: failed || verdict.reason === 'InvalidConfiguration' ? 'Warning' : 'Normal',
    reason: verdict.status === 'True' ? type : verdict.reason,
    action: type,
    note,
  });
}

/** The conditions whose changes become events: the steps and what matters to whoever uses the cluster. */
const reported = new Set<string>(
  Object.keys(conditions).filter(
    (type) => type.endsWith('Ready') || ['Available', 'Paused', 'Deleting'].includes(type),
  ),
);
