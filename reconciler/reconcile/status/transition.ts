import { conditions, type ConditionType, severityOf } from '../../../constructs/api/conditions.ts';
import type { EventNote, EventRecorder } from '../../kube/events.ts';
import { objectKey } from '../../kube/object.ts';
import type { Transition } from './writer.ts';
import type { Logger } from '../../engine/log.ts';

/** Reports a condition transition: one log line, and an event on the object if the severity of its reason asks for one. */
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

  const event = eventType(transition);
  if (!event) return;
  events.record(object, {
    type: event,
    // A condition that becomes True names itself, unless a Warning comes with it.
    reason: update.status === 'True' && event === 'Normal' ? type : update.reason,
    action: type,
    note: update.message || sentenceOf(type, update.reason),
  });
}

/** What is so now: the meaning of a condition, without what else there is to know of it. */
function sentenceOf(type: ConditionType, reason: string): string {
  if (reason === 'NotRequested') return 'the spec asks for none of it any more';
  const [sentence = ''] = conditions[type].meaning.split('; ');
  return sentence;
}

/** Type of the event for a transition; undefined if it has none. The end of what was a Warning is worth an event too. */
function eventType({ type, update, before, isInitialized }: Transition): EventNote['type'] | undefined {
  const isWarning = (reason: string): boolean => {
    const severity = severityOf(type, reason);
    return severity === 'Warning' || (severity === 'Outage' && isInitialized);
  };
  if (isWarning(update.reason)) return 'Warning';
  if (severityOf(type, update.reason) === 'Normal') return 'Normal';
  return update.status === 'True' && before !== undefined && isWarning(before.reason) ? 'Normal' : undefined;
}
