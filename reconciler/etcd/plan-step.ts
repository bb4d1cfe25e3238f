import { planDefragmentation, planSpaceStep } from './maintenance.ts';
import type { EtcdObservation } from './members.ts';
import { planMembershipStep } from './membership.ts';
import { type Act, type Guard, mayDisrupt } from './quorum-guard.ts';
import { planRolloutStep } from './rollout.ts';
import { type Decision, settled } from './steps.ts';

/** The desired state of an etcd cluster. */
export interface EtcdDesiredState {
  readonly replicas: number;
  /** Revision of the StatefulSet's template, if known, and why pods of another revision must be replaced. */
  readonly revision: string | undefined;
  readonly cause: Act['cause'];
  /** Largest database size in the configuration of the members. */
  readonly quotaBytes: number;
}

/**
 * The one thing to do next to an etcd cluster. Writes come first, then its members, then their pods, then their files;
 * each begins when the previous one is settled. A full database that waits for space does not block the others, because
 * a larger quota requires new pods.
 */
export function planEtcdStep(
  observation: EtcdObservation,
  goal: EtcdDesiredState,
  guard: Guard = mayDisrupt,
): Decision {
  const space = planSpaceStep(observation, goal.quotaBytes, guard);
  if (space.kind === 'act') return space;
  const membership = planMembershipStep(observation, goal.replicas, guard);
  if (membership.kind === 'act') return membership;
  const rollout = planRolloutStep(observation, { revision: goal.revision, cause: goal.cause, guard });
  // A member that waits for its pod may wait for the very template that a rollout brings.
  if (rollout.kind === 'act') return rollout;
  const waiting = [space, membership, rollout].find(({ kind }) => kind === 'wait');
  if (waiting) return waiting;
  const upkeep = planDefragmentation(observation, { quotaBytes: goal.quotaBytes, guard });
  // No phase waits for upkeep that is not possible now. With one member it never is.
  return upkeep.kind === 'act' ? upkeep : settled;
}
