import { type EtcdObservation, healthyVoters, type Member } from './members.ts';
import { act, type Decision, wait } from './steps.ts';
import { type Act, type Guard } from './quorum-guard.ts';

/** `decision` if the guard lets the member be taken away; else leadership is moved first, or what is waited for. */
export function guarded(
  { observation, guard, successors }: Guarded,
  member: Member,
  intent: Act,
  decision: Decision,
): Decision {
  const result = guard(observation, member, intent);
  if (result.isAllowed) return decision;
  if (result.reason !== 'Leads') return wait(result.message);
  return moveLeader(observation, member, successors);
}

export interface Guarded {
  readonly observation: EtcdObservation;
  readonly guard: Guard;
  /**
   * Who should lead next, if one of them can: members that the same act has passed, so that leadership moves once. By
   * default the lowest ordinal that can, which stays the longest.
   */
  readonly successors?: (member: Member) => boolean;
}

function moveLeader(observation: EtcdObservation, leader: Member, isPreferred?: (member: Member) => boolean): Decision {
  const able = healthyVoters(observation).filter(({ name }) => name !== leader.name);
  const next = (isPreferred && able.find(isPreferred)) ?? able[0];
  if (!next?.registration) return wait('no other etcd member can lead');
  return act({ kind: 'MoveLeader', from: leader.name, to: next.name, targetId: next.registration.id });
}
