import { planEtcdStep } from '../../../reconciler/etcd/plan-step.ts';
import type { Guard } from '../../../reconciler/etcd/quorum-guard.ts';
import type { EtcdStep } from '../../../reconciler/etcd/steps.ts';
import {
  ended,
  execute,
  failures,
  hasAvailableQuorum,
  isAvailable,
  isLostForGood,
  keyOf,
  observe,
  operatorRestart,
  progress,
  quotaBytes,
  votersIn,
  type ModelState,
} from './etcd-model.ts';

export interface Exploration {
  readonly states: number;
  /** Forbidden steps of the operator, with the state in which it took them. */
  readonly violations: readonly string[];
  /** States from which the desired members are not reached although nothing more fails. */
  readonly stuck: readonly string[];
}

interface Operator {
  readonly replicas: number;
  readonly guard: Guard;
}

/** Every state that is reachable from `start` by steps of the operator, failures and progress without either. */
export function explore(start: ModelState, operator: Operator): Exploration {
  const seen = new Set([keyOf(start)]);
  const violations: string[] = [];
  const stuck: string[] = [];
  const settling = new Map<string, boolean>();
  for (let edge = [start]; edge.length > 0;) {
    const next: ModelState[] = [];
    for (const state of edge) {
      const step = stepIn(state, operator);
      const after = step && execute(state, step);
      if (step && after) violations.push(...violationsOf(state, step, after, operator));
      if (!settles(state, operator, settling)) stuck.push(`${keyOf(state)} next ${JSON.stringify(step)}`);
      const followers = [...(after ? [after] : []), ...progress(state), ...failures(state), ...operatorRestart(state)];
      for (const follower of followers) {
        const key = keyOf(follower);
        if (seen.has(key)) continue;
        seen.add(key);
        next.push(follower);
      }
    }
    edge = next;
  }
  return { states: seen.size, violations, stuck };
}

function stepIn(state: ModelState, { replicas, guard }: Operator): EtcdStep | undefined {
  const goal = { replicas, revision: 'new', cause: 'requested', quotaBytes } as const;
  const decision = planEtcdStep(observe(state), goal, guard);
  return decision.kind === 'act' ? decision.step : undefined;
}

function violationsOf(state: ModelState, step: EtcdStep, after: ModelState, { replicas }: Operator): string[] {
  const what = `${JSON.stringify(step)} in ${keyOf(state)}`;
  const inProgress = ({ slots }: ModelState) => slots.filter(({ isOurs }) => isOurs).length;
  const ordinal = 'member' in step ? Number(step.member.split('-').at(-1)) : -1;
  const slot = state.slots[ordinal];
  const found: string[] = [];
  // With a single member every disruptive step loses the quorum; the guard's own test covers which are allowed.
  if (votersIn(state).length > 1 && hasAvailableQuorum(state) && !hasAvailableQuorum(after))
    found.push(`quorum lost by ${what}`);
  const restarted = after.slots.map((one, index) => (index === ordinal ? ended(one) : one));
  if (step.kind === 'replacePod' && !isLostForGood(state) && isLostForGood({ ...after, slots: restarted }))
    found.push(`the last data ended by ${what}`);
  if (inProgress(after) > 1 && inProgress(after) > inProgress(state)) found.push(`two acts under way by ${what}`);
  // Not even that of a learner: it may have confirmed entries since it was observed.
  if (step.kind === 'discardVolume' && slot?.registration !== 'none')
    found.push(`volume of a member discarded by ${what}`);
  if (step.kind === 'remove' && slot?.registration === 'voter' && !slot.hasStarted && ordinal < replicas)
    found.push(`a founder that is slow taken for lost by ${what}`);
  if (step.kind === 'remove' && isLostForGood(state)) found.push(`members removed without a quorum by ${what}`);
  if (step.kind === 'moveLeader' && !isAvailable(after.slots[after.leader] ?? state.slots[0]!)) {
    found.push(`leadership given to one that is not well by ${what}`);
  }
  return found;
}

/** Follows one path without failures until it ends, or reaches a known state. */
function settles(start: ModelState, operator: Operator, known: Map<string, boolean>): boolean {
  const course: string[] = [];
  let state: ModelState = { ...start, failuresLeft: 0 };
  let result: boolean | undefined;
  while (result === undefined) {
    const key = keyOf(state);
    result = known.get(key) ?? (course.includes(key) ? false : undefined);
    if (result !== undefined) break;
    course.push(key);
    const step = stepIn(state, operator);
    const next = step ? execute(state, step) : progress(state)[0];
    if (next) state = next;
    else result = isLostForGood(state) || isAsWanted(state, operator.replicas);
  }
  for (const key of course) known.set(key, result);
  return result;
}

function isAsWanted({ slots, isFull, leftAlarms }: ModelState, replicas: number): boolean {
  const areMembers = slots.every((slot, ordinal) =>
    ordinal < replicas
      ? isAvailable(slot) && slot.mark === 'own' && !slot.isVolumeGoing && !slot.isOutdated && !slot.isBloated
      : slot.registration === 'none' && slot.data === 'none',
  );
  return areMembers && !isFull && leftAlarms === 0;
}
