import { describe, expect, it } from 'vitest';
import type { EtcdObservation, Member } from '../../../reconciler/etcd/members.ts';
import { type Act, mayDisrupt } from '../../../reconciler/etcd/quorum-guard.ts';
import { learner, observed, observedMember, observedStatus, silent, stopped, vacant } from './observed.ts';

const restart: Act = { kind: 'restart', cause: 'requested' };
const defragment: Act = { kind: 'defragment', cause: 'upkeep' };
const remove: Act = { kind: 'remove', cause: 'unavoidable' };
const behind = { status: observedStatus(1, { raftAppliedIndex: 48_000 }) };
const terminating = { pod: { uid: 'pod', revision: 'new', isTerminating: true, isRunning: true } };
const corrupt = { alarms: [{ alarm: 'Corrupt', memberId: '2' }] } as const;

const deleted = { claim: { memberId: '1', isLost: false, isTerminating: true } };

const podThat = (isReady: boolean): Partial<Member> => ({
  pod: { uid: 'pod', revision: 'old', isTerminating: false, isRunning: true, isReady },
});
const ready = podThat(true);
const unready = podThat(false);

/** No member answers, so that nobody says who the members are. */
function unanswered(
  size: number,
  changes: Readonly<Record<number, Partial<Member>>> = {},
  rest: Partial<EtcdObservation> = {},
): EtcdObservation {
  const { members, ...observation } = observed(size, changes, { membership: 'unknown', ...rest });
  const silenced = members.map((one) => ({
    ...one,
    registration: undefined,
    status: changes[one.ordinal]?.status,
  }));
  return { ...observation, members: silenced };
}

interface Case {
  readonly when: string;
  readonly observation: EtcdObservation;
  readonly act: Act;
  readonly ordinal: number;
  readonly result: string;
}

const cases: readonly Case[] = [
  { when: 'all members are healthy', observation: observed(3), act: restart, ordinal: 2, result: 'allowed' },
  {
    when: 'one of the others does not reach the other',
    observation: observed(3, {}, { missingConnections: [{ from: 'etcd-1', to: 'etcd-0' }] }),
    act: restart,
    ordinal: 2,
    result: 'othersApart',
  },
  {
    when: 'one of the others does not reach the member',
    observation: observed(3, {}, { missingConnections: [{ from: 'etcd-1', to: 'etcd-2' }] }),
    act: restart,
    ordinal: 2,
    result: 'allowed',
  },
  {
    when: 'the member does not reach another one',
    observation: observed(3, {}, { missingConnections: [{ from: 'etcd-2', to: 'etcd-1' }] }),
    act: restart,
    ordinal: 2,
    result: 'allowed',
  },
  {
    when: 'one of the others does not reach the other, and the member is lost',
    observation: observed(3, { 2: stopped }, { missingConnections: [{ from: 'etcd-1', to: 'etcd-0' }] }),
    act: remove,
    ordinal: 2,
    result: 'allowed',
  },
  {
    when: 'only its own copy names the only member, which is not ready',
    observation: observed(1, { 0: { ...silent, ...unready } }, { membership: 'unconfirmed' }),
    act: restart,
    ordinal: 0,
    result: 'membershipUnconfirmed',
  },
  { when: 'the member leads', observation: observed(3), act: restart, ordinal: 0, result: 'leads' },
  {
    when: 'another of 3 runs and does not answer',
    observation: observed(3, { 1: silent }),
    act: restart,
    ordinal: 2,
    result: 'noQuorum',
  },
  {
    when: 'another of 3 is behind',
    observation: observed(3, { 1: behind }),
    act: defragment,
    ordinal: 2,
    result: 'noQuorum',
  },
  {
    when: 'another of 3 has corrupt data',
    observation: observed(3, {}, corrupt),
    act: defragment,
    ordinal: 2,
    result: 'noQuorum',
  },
  {
    when: 'another of 5 is unhealthy, though a quorum would be left',
    observation: observed(5, { 1: silent }),
    act: restart,
    ordinal: 4,
    result: 'othersUnhealthy',
  },
  {
    when: 'it is the only unhealthy one',
    observation: observed(3, { 1: silent }),
    act: restart,
    ordinal: 1,
    result: 'allowed',
  },
  {
    when: 'another of 5 is unhealthy, and so is the lost one',
    observation: observed(5, { 1: silent, 3: stopped }),
    act: remove,
    ordinal: 3,
    result: 'allowed',
  },
  {
    when: 'the others have no quorum without the lost one',
    observation: observed(3, { 1: silent, 2: stopped }),
    act: remove,
    ordinal: 2,
    result: 'noQuorum',
  },
  {
    when: 'its process does not run, even without a quorum',
    observation: observed(3, { 1: stopped, 2: stopped }, { membership: 'unconfirmed' }),
    act: restart,
    ordinal: 1,
    result: 'allowed',
  },
  {
    when: 'none answers the operator, though all run',
    observation: unanswered(3),
    act: restart,
    ordinal: 1,
    result: 'membershipUnconfirmed',
  },
  {
    when: 'none answers the operator, though all run and the kubelet reports that this one is not ready',
    observation: unanswered(3, { 1: unready }),
    act: restart,
    ordinal: 1,
    result: 'membershipUnconfirmed',
  },
  {
    when: 'none answers the operator, and its process does not run',
    observation: unanswered(3, { 1: stopped }),
    act: restart,
    ordinal: 1,
    result: 'allowed',
  },
  {
    when: 'none answers the operator, its process does not run, and another pod is being replaced',
    observation: unanswered(3, { 1: stopped, 2: terminating }),
    act: restart,
    ordinal: 1,
    result: 'inProgress',
  },
  {
    when: 'none answers because etcd was never formed, though all run',
    observation: unanswered(3, {}, { isNew: true }),
    act: restart,
    ordinal: 1,
    result: 'allowed',
  },
  {
    when: 'the only member runs, is ready and does not answer the operator',
    observation: unanswered(1, { 0: ready }),
    act: restart,
    ordinal: 0,
    result: 'membershipUnconfirmed',
  },
  {
    when: 'the only member runs, and the kubelet reports that it is not ready either',
    observation: unanswered(1, { 0: unready }),
    act: restart,
    ordinal: 0,
    result: 'allowed',
  },
  {
    when: 'none answers the operator, and it is to be removed',
    observation: unanswered(3, { 1: stopped }),
    act: remove,
    ordinal: 1,
    result: 'membershipUnconfirmed',
  },
  {
    when: 'a member that may be behind reports that it has no vote',
    observation: observed(3, { 2: learner(2) }, { membership: 'unconfirmed' }),
    act: restart,
    ordinal: 2,
    result: 'membershipUnconfirmed',
  },
  {
    when: 'etcd is new and the member answers',
    observation: unanswered(3, { 1: { status: observedStatus(1) } }, { isNew: true }),
    act: restart,
    ordinal: 1,
    result: 'membershipUnconfirmed',
  },
  {
    when: 'only one member reports the membership',
    observation: observed(3, {}, { membership: 'unconfirmed' }),
    act: restart,
    ordinal: 1,
    result: 'membershipUnconfirmed',
  },
  {
    when: 'another pod is being replaced',
    observation: observed(3, { 1: terminating }),
    act: restart,
    ordinal: 2,
    result: 'inProgress',
  },
  {
    when: 'another is joining',
    observation: observed(3, { 2: learner(2) }),
    act: restart,
    ordinal: 1,
    result: 'inProgress',
  },
  {
    when: 'a defragmentation is in progress',
    observation: observed(3, {}, { inProgress: { act: 'defragmentation', member: 'etcd-1' } }),
    act: restart,
    ordinal: 2,
    result: 'inProgress',
  },
  {
    when: 'there is an unknown member',
    observation: observed(3, {}, { unknownMembers: [{ id: '9', name: 'x', isLearner: false, peerUrls: [] }] }),
    act: restart,
    ordinal: 2,
    result: 'noQuorum',
  },
  {
    when: 'its process does not run and another pod is being replaced',
    observation: observed(3, { 1: stopped, 2: terminating }),
    act: restart,
    ordinal: 1,
    result: 'inProgress',
  },
  {
    when: 'it is no member, and another is unhealthy',
    observation: observed(3, { 1: silent, 2: { registration: undefined } }),
    act: restart,
    ordinal: 2,
    result: 'allowed',
  },
  {
    when: 'it answers although the kubelet reports that it does not run, and another is unhealthy',
    observation: observed(3, { 1: silent, 2: { ...stopped, status: observedStatus(2) } }),
    act: restart,
    ordinal: 2,
    result: 'noQuorum',
  },
  {
    when: 'its pod is gone, whichever others are unhealthy',
    observation: observed(3, { 1: silent, 2: { status: undefined, pod: undefined } }),
    act: restart,
    ordinal: 2,
    result: 'allowed',
  },
  {
    when: 'only 2 of 4 are healthy, though they would be a quorum of the 3 that are left',
    observation: observed(4, { 2: silent, 3: stopped }),
    act: remove,
    ordinal: 3,
    result: 'noQuorum',
  },
  {
    when: 'it is unhealthy and so is another of 5',
    observation: observed(5, { 1: silent, 3: silent }),
    act: restart,
    ordinal: 3,
    result: 'othersUnhealthy',
  },
  {
    when: 'it is healthy and another of 5 is not',
    observation: observed(5, { 1: silent }),
    act: remove,
    ordinal: 4,
    result: 'othersUnhealthy',
  },
  { when: 'it is the only member', observation: observed(1), act: defragment, ordinal: 0, result: 'onlyMember' },
  {
    when: 'it is the only member and the act was requested',
    observation: observed(1),
    act: restart,
    ordinal: 0,
    result: 'allowed',
  },
  { when: 'it is the only member', observation: observed(1), act: remove, ordinal: 0, result: 'onlyMember' },
  {
    when: 'it does not answer',
    observation: observed(3, { 2: silent }),
    act: defragment,
    ordinal: 2,
    result: 'noAnswer',
  },
  { when: '4 are healthy and one is surplus', observation: observed(4), act: remove, ordinal: 3, result: 'allowed' },
  { when: '2 are healthy and one is surplus', observation: observed(2), act: remove, ordinal: 1, result: 'allowed' },
  { when: 'there are only 2 members', observation: observed(2), act: restart, ordinal: 1, result: 'noQuorum' },
  {
    when: 'it is the only member, and its volume claim is being deleted',
    observation: observed(1, { 0: deleted }),
    act: restart,
    ordinal: 0,
    result: 'endsWithItsPod',
  },
  {
    when: 'it is the only member, does not run, and its volume claim is being deleted',
    observation: observed(1, { 0: { ...stopped, ...deleted } }),
    act: { kind: 'restart', cause: 'unavoidable' },
    ordinal: 0,
    result: 'endsWithItsPod',
  },
  {
    when: 'none answers, and its volume claim is being deleted',
    observation: unanswered(3, { 2: deleted }),
    act: { kind: 'restart', cause: 'unavoidable' },
    ordinal: 2,
    result: 'endsWithItsPod',
  },
  {
    when: 'its volume claim is being deleted and the others keep theirs',
    observation: observed(3, { 2: deleted }),
    act: restart,
    ordinal: 2,
    result: 'allowed',
  },
  {
    when: 'the volume claims of two of three are being deleted',
    observation: observed(3, { 1: deleted, 2: deleted }),
    act: restart,
    ordinal: 2,
    result: 'endsWithItsPod',
  },
  {
    when: 'the volume claims of two of three are being deleted',
    observation: observed(3, { 1: deleted, 2: deleted }),
    act: remove,
    ordinal: 2,
    result: 'allowed',
  },
  {
    when: 'its volume claim is being deleted and etcd was never formed',
    observation: unanswered(1, { 0: { ...deleted, ...stopped } }, { isNew: true }),
    act: restart,
    ordinal: 0,
    result: 'allowed',
  },
  {
    when: 'it is no member any more, and its volume claim is being deleted',
    observation: observed(3, { 1: { ...vacant, ...deleted } }),
    act: restart,
    ordinal: 1,
    result: 'allowed',
  },
];

describe('the quorum guard', () => {
  it.each(cases)('answers $result to $act.kind ($act.cause) of etcd-$ordinal when $when', (one) => {
    const result = mayDisrupt(one.observation, one.observation.members[one.ordinal] ?? observedMember(9), one.act);
    expect(result.isAllowed ? 'allowed' : result.reason).toBe(one.result);
  });

  it('gives the reason as a sentence', () => {
    const observation = observed(5, { 1: silent });
    expect(mayDisrupt(observation, observedMember(4), restart)).toMatchObject({
      message: '1 of the 4 members other than etcd-4 are unhealthy',
    });
    const withoutQuorum = observed(3, { 1: silent, 2: silent });
    expect(mayDisrupt(withoutQuorum, observedMember(2, silent), restart)).toMatchObject({
      message: 'without etcd-2 only 1 of 3 members are healthy, but a quorum needs 2',
    });
    expect(mayDisrupt(withoutQuorum, observedMember(2, silent), remove)).toMatchObject({
      message: 'only 1 of 3 members are healthy',
    });
  });
});
