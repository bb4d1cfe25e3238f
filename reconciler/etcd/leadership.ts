import { type EtcdObservation, healthyVoters, type Member } from './members.ts';
import { act, type Decision, wait } from './steps.ts';
import { type Act, type Guard } from './quorum-guard.ts';

/**
 * `decision` if the guard allows the disruption of the member. Otherwise a transfer of leadership, or what to wait for.
 */
export function guarded(
  { observation, guard, successors }: Guarded,
  member: Member,
  intent: Act,
  decision: Decision,
): Decision {
  const result = guard(observation, member, intent);
  if (result.isAllowed) return decision;
  if (result.reason !== 'leads') return wait(result.message);
  return moveLeader(observation, member, successors);
}

interface Guarded {
  readonly observation: EtcdObservation;
  readonly guard: Guard;
  /**
   * Preferred next leaders: members that the same act has already covered, so that leadership moves once. By default
   * the healthy member with the lowest ordinal, because it stays the longest.
   */
  readonly successors?: (member: Member) => boolean;
}

function moveLeader(observation: EtcdObservation, leader: Member, isPreferred?: (member: Member) => boolean): Decision {
  const able = healthyVoters(observation).filter(({ name }) => name !== leader.name);
  const next = (isPreferred && able.find(isPreferred)) ?? able[0];
  if (!next?.registration) return wait('no other etcd member can take over leadership');
  return act({ kind: 'moveLeader', from: leader.name, to: next.name, targetId: next.registration.id });
}
