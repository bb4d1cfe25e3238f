import type { Condition } from '../../../constructs/api/status.ts';
import { type ConditionUpdate, conditionUpdate, type ConditionUpdates } from '../../engine/condition-update.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Apart } from './judge.ts';

const reasons = { hosted: 'HostedWorkApart', everything: 'AllWorkApart' } as const satisfies Record<Apart, string>;

const meanwhile = {
  hosted:
    'what needs only the management cluster continues, and a second process does what reaches its servers and stores',
  everything: 'a second process does all work for it',
} as const satisfies Record<Apart, string>;

/** The condition of a control plane in quarantine. */
export function quarantined(apart: Apart, retryAt: Date): ConditionUpdate {
  const message = `the operator has ended repeatedly while it worked on this control plane: ${meanwhile[apart]}, next at ${retryAt.toISOString()}; the quarantine ends when that process does its work and ends as it should. The log of the operator has the cause`;
  return conditionUpdate('True', reasons[apart], message);
}

export const notQuarantined: ConditionUpdate = conditionUpdate('False', 'NotQuarantined');

/** The updates of the conditions of a control plane that may be in quarantine. */
export function inQuarantine(update: ConditionUpdate | undefined): ConditionUpdates {
  return update === undefined ? {} : { Quarantined: update };
}

/** The quarantine that the status reports. Users may not write it. */
export function apartIn(object: KubeObject): Apart | undefined {
  const reason = reportedIn(object)?.reason;
  return (['hosted', 'everything'] as const).find((apart) => reasons[apart] === reason);
}

/** The condition as it is, for a process that works on a control plane in quarantine. */
export function reportedIn(object: KubeObject & { readonly status?: unknown }): ConditionUpdate | undefined {
  const { conditions = [] } = (object.status ?? {}) as { readonly conditions?: readonly Condition[] };
  const found = conditions.find(({ type, status }) => type === 'Quarantined' && status === 'True');
  return found && { ...notQuarantined, ...(found as ConditionUpdate) };
}
