import { guarded } from './leadership.ts';
import { planDefragmentation, planSpaceStep } from './maintenance.ts';
import { type EtcdObservation, isHealthy, leaderOf, type Member } from './members.ts';
import { planMembershipStep } from './membership.ts';
import { type Act, type Guard, mayDisrupt } from './quorum-guard.ts';
import { act, type Decision, settled, wait } from './steps.ts';

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
  const rollout = planRolloutStep(observation, goal, guard);
  // A member that waits for its pod may wait for the very template that a rollout brings.
  if (rollout.kind === 'act') return rollout;
  const waiting = [space, membership, rollout].find(({ kind }) => kind === 'wait');
  if (waiting) return waiting;
  const upkeep = planDefragmentation(observation, goal.quotaBytes, guard);
  // No phase waits for upkeep that is not possible now. With one member it never is.
  return upkeep.kind === 'act' ? upkeep : settled;
}

/**
 * The pod to replace next, so that all pods have the current template. Pods that do not run come first, because
 * replacing them costs nothing and may repair them; then members that are unhealthy, not ready, or do not reach another one, then
 * followers, the leader last.
 */
export function planRolloutStep(
  observation: EtcdObservation,
  { revision, cause }: Pick<EtcdDesiredState, 'revision' | 'cause'>,
  guard: Guard = mayDisrupt,
): Decision {
  if (revision === undefined) return settled;
  const outdated = ({ pod }: Member): boolean => pod !== undefined && pod.revision !== revision && !pod.isTerminating;
  const [next] = observation.members.filter(outdated).sort((one, other) => {
    return urgency(observation, one) - urgency(observation, other) || other.ordinal - one.ordinal;
  });
  if (!next?.pod) return settled;
  const unready = observation.members.find((member) => isServedTo(member) === false);
  // Clients connect through a Service, which routes to a member some seconds after it becomes healthy.
  if (unready && isServedTo(next)) return wait(`the pod of ${unready.name} is not ready yet`);
  const successors = (member: Member): boolean => !outdated(member);
  const replacement = act({ kind: 'replacePod', member: next.name, podUid: next.pod.uid });
  return guarded({ observation, guard, successors }, next, { kind: 'restart', cause }, replacement);
}

/** Whether clients connect to a member; undefined if it is not a member, and while that is not known. */
function isServedTo({ registration, pod }: Member): boolean | undefined {
  return registration && pod?.isReady;
}

function urgency(observation: EtcdObservation, member: Member): number {
  if (member.pod?.isRunning === false) return 0;
  const isDeaf = observation.missingConnections?.some(({ from }) => from === member.name);
  if (!isHealthy(observation, member) || isServedTo(member) === false || isDeaf) return 1;
  return leaderOf(observation) === member ? 3 : 2;
}
