import { planDefragmentation, planSpaceStep } from './maintenance.ts';
import type { EtcdObservation } from './members.ts';
import { planMembershipStep } from './membership.ts';
import { type Act, type Guard, mayDisrupt } from './quorum-guard.ts';
import { planRolloutStep } from './rollout.ts';
import { type Decision, settled } from './steps.ts';

/** How an etcd cluster should be. */
export interface EtcdDesiredState {
  readonly replicas: number;
  /** Revision of the StatefulSet's template, if that is known, and why pods of another one have to go. */
  readonly revision: string | undefined;
  readonly cause: Act['cause'];
  /** Largest size of the database that the members are configured with. */
  readonly quotaBytes: number;
}

/**
 * The one thing to do next to an etcd cluster. Writes come first, then its members, then their pods, then their files;
 * each begins when the one before has nothing left to do. A full database that waits for space lets the others go on,
 * for a larger quota comes with new pods.
 */
export function planEtcdStep(
  observation: EtcdObservation,
  goal: EtcdDesiredState,
  guard: Guard = mayDisrupt,
): Decision {
  const space = planSpaceStep(observation, goal.quotaBytes, guard);
  if (space.kind === 'Act') return space;
  const membership = planMembershipStep(observation, goal.replicas, guard);
  if (membership.kind === 'Act') return membership;
  const rollout = planRolloutStep(observation, { revision: goal.revision, cause: goal.cause, guard });
  // A member that waits for its pod may wait for exactly the template that a rollout brings.
  if (rollout.kind === 'Act') return rollout;
  const waiting = [space, membership, rollout].find(({ kind }) => kind === 'Wait');
  if (waiting) return waiting;
  const upkeep = planDefragmentation(observation, { quotaBytes: goal.quotaBytes, guard });
  // Upkeep that cannot be now is nothing that anybody waits for; with one member it never can be.
  return upkeep.kind === 'Act' ? upkeep : settled;
}
