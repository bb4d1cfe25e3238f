import { describe, expect, it } from 'vitest';
import type { Damage } from '../../../reconciler/etcd/damage.ts';
import {
  type EtcdObservation,
  healthyVoters,
  isDataLost,
  leaderOf,
  type Member,
  type MemberPod,
  quorumOf,
} from '../../../reconciler/etcd/members.ts';
import { wasFormed } from '../../../reconciler/etcd/membership.ts';
import { damaged, observed, observedMember, observedStatus, silent, stopped, vacant } from './observed.ts';

const leads = (id: string | undefined, raftTerm: number) => ({ leaderId: id, raftTerm });

describe('the leader', () => {
  const cases: readonly [when: string, EtcdObservation, leader: string | undefined][] = [
    ['is who all say', observed(3), 'etcd-0'],
    ['is not who says so of itself in an older term', split('1', 2, '2', 3), 'etcd-1'],
    ['is nobody when it does not answer us', observed(3, { 0: silent }), undefined],
    ['is nobody when nobody knows', split(undefined, 3, undefined, 3), undefined],
  ];
  it.each(cases)('%s', (_, observation, leader) => {
    expect(leaderOf(observation)?.name).toBe(leader);
  });

  function split(one: string | undefined, term: number, others: string | undefined, newer: number): EtcdObservation {
    return observed(3, {
      0: { status: observedStatus(0, leads(one, term)) },
      1: { status: observedStatus(1, leads(others, newer)) },
      2: { status: observedStatus(2, leads(others, newer)) },
    });
  }
});

describe('a member is well', () => {
  const ill: readonly [when: string, change: Partial<Member>][] = [
    ['it answers', silent],
    ['it answers as who it is registered', { status: observedStatus(1, { memberId: '99' }) }],
    ['it follows the leader', { status: observedStatus(1, { leaderId: undefined }) }],
    ['it has applied what is committed', { status: observedStatus(1, { raftAppliedIndex: 48_999 }) }],
    ['its pod stays', { pod: { uid: 'uid', revision: 'new', isTerminating: true, isRunning: true } }],
  ];
  it.each(ill)('only if %s', (_, change) => {
    expect(healthyVoters(observed(3, { 1: change })).map(({ name }) => name)).toEqual(['etcd-0', 'etcd-2']);
  });

  it('also with the few entries missing that were written while the others were asked', () => {
    const change = { status: observedStatus(1, { raftAppliedIndex: 49_000 }) };
    expect(healthyVoters(observed(3, { 1: change }))).toHaveLength(3);
  });
});

describe('the data of a member', () => {
  const claim = (memberId: string | undefined, isLost = false) => ({ memberId, isLost });
  const cases: readonly [when: string, change: Partial<Member>, isLost: boolean][] = [
    ['is there while it answers, whatever became of the claim', { claim: undefined }, false],
    ['is there while its process is down', stopped, false],
    ['is gone with the claim', { ...stopped, claim: undefined }, true],
    ['is gone with the volume', { ...stopped, claim: claim('2', true) }, true],
    ['is gone when the claim holds that of another', { ...stopped, claim: claim('77') }, true],
    ['is gone when the process cannot run on a new claim', { ...stopped, claim: claim(undefined) }, true],
    ['may be there while a process runs on a new claim', { ...silent, claim: claim(undefined) }, false],
    ['is lost when etcd says that it cannot read it', damaged('Unreadable'), true],
    ['may be there when etcd has said so once', oncePod('Unreadable', { restarts: 1 }), false],
    ['may be there while etcd is started on it again', oncePod('Unreadable', { isRunning: true }), false],
    ['is there while the member answers, whatever it said before', { pod: damaged('Unreadable').pod }, false],
    ['may be the right one where it differs', damaged('Different'), false],
    ['is not missed where nobody is a member', { ...vacant, claim: undefined }, false],
  ];
  function oncePod(kind: Damage['kind'], change: Partial<MemberPod>): Partial<Member> {
    const { pod, ...rest } = damaged(kind);
    return { ...rest, pod: pod && { ...pod, ...change } };
  }

  it.each(cases)('%s', (_, change, isLost) => {
    expect(isDataLost(observedMember(1, change))).toBe(isLost);
  });
});

it.each([
  [1, 1],
  [2, 2],
  [3, 2],
  [4, 3],
  [5, 3],
])('of %i members %i have to agree', (voters, quorum) => {
  expect(quorumOf(voters)).toBe(quorum);
});

describe('an etcd cluster was formed', () => {
  it('if a volume bears the mark of a member', () => {
    expect(wasFormed(observed(3, { 0: vacant, 1: vacant }).members)).toBe(true);
    expect(wasFormed(observed(3, { 0: vacant, 1: vacant, 2: vacant }).members)).toBe(false);
  });
});
