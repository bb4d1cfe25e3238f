import { notCountedForReady, type ConditionType, severityOf } from '../../../constructs/api/conditions.ts';
import type { Condition } from '../../../constructs/api/status.ts';

/** A condition of a step, in reporting order. */
export type StepCondition = Pick<Condition, 'status' | 'reason' | 'message'> & { readonly type: ConditionType };

/** The steps that Ready waits for, the one that blocks first: one with a Warning before others, and the first of them. */
export function waitedFor<T extends StepCondition>(steps: readonly T[]): T[] {
  const waiting = steps.filter(
    ({ type, status, reason }) =>
      !notCountedForReady.includes(type) && status !== 'True' && reason !== 'WaitingForOtherPhases',
  );
  const blocking = waiting.find(isFault) ?? waiting[0];
  return blocking === undefined ? [] : [blocking, ...waiting.filter((one) => one !== blocking)];
}

/**
 * The steps, with what is broken in etcd in place of the step that waits for etcd: the step only knows that no member answers.
 * @param health the condition EtcdClusterHealthy
 */
export function withEtcdFault<T extends StepCondition>(steps: readonly T[], health: T | undefined): T[] {
  if (health === undefined || health.status === 'True' || !isFault(health)) return [...steps];
  return steps.map((step) =>
    step.type === 'EtcdClusterReady' && step.status !== 'True' && !isFault(step) ? health : step,
  );
}

/** Whether a person has to act, rather than wait. */
export function isFault({ type, reason }: Pick<StepCondition, 'type' | 'reason'>): boolean {
  return ['Warning', 'Outage'].includes(severityOf(type, reason));
}
