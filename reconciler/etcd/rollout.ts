import { guarded } from './leadership.ts';
import { type EtcdObservation, isHealthy, leaderOf, type Member } from './members.ts';
import { type Act, type Guard, mayDisrupt } from './quorum-guard.ts';
import { act, type Decision, settled, wait } from './steps.ts';

export interface RolloutOptions {
  /** Revision of the StatefulSet's template that all pods should have; no rollout while it is not known. */
  readonly revision: string | undefined;
  readonly cause: Act['cause'];
  readonly guard?: Guard;
}

/**
 * The pod to replace next, so that all pods have the current template. Pods that do not run come first, because
 * replacing them costs nothing and may repair them; then members that are unhealthy, not ready, or do not reach another one, then
 * followers, the leader last.
 */
export function planRolloutStep(observation: EtcdObservation, options: RolloutOptions): Decision {
  const { revision, cause, guard = mayDisrupt } = options;
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
