import { describe, expect, it } from 'vitest';
import type { Damage } from '../../../reconciler/etcd/damage.ts';
import {
  damageOf,
  endsWithItsPod,
  type EtcdObservation,
  hasQuorum,
  healthyVoters,
  isCaughtUp,
  isCorrupt,
  isDataLost,
  isHealthy,
  leaderOf,
  type Member,
  type MemberPod,
  quorumOf,
  voterCount,
} from '../../../reconciler/etcd/members.ts';
import { wasFormed } from '../../../reconciler/etcd/membership.ts';
import { damaged, observed, observedMember, observedStatus, silent, stopped, vacant } from './observed.ts';

const leadership = (id: string | undefined, raftTerm: number) => ({ leaderId: id, raftTerm });

describe('the data of a member whose volume claim is being deleted', () => {
  const going = { memberId: '1', isLost: false, isTerminating: true };
  const stranger = { ...observedMember(0), registration: undefined, claim: going };
  it.each<[string, Partial<EtcdObservation>, Member, boolean]>([
    ['ends with its pod', {}, observedMember(0, { claim: going }), true],
    ['ends with its pod if it may belong to a member', { membership: 'unknown' }, stranger, true],
    ['is no loss if it belongs to no member', {}, stranger, false],
    ['is no loss if etcd was never formed', { isNew: true }, observedMember(0, { claim: going }), false],
    ['is gone already if its volume is', {}, observedMember(0, { claim: { ...going, isLost: true } }), false],
    ['stays if only another claim is deleted', {}, observedMember(0), false],
  ])('%s', (_, rest, member, expected) => {
    expect(endsWithItsPod(observed(3, {}, rest), member)).toBe(expected);
  });
});

it('an added member that has never started is not damaged by the data of the one before it', () => {
  const { registration, ...rest } = observedMember(1, damaged('unreadable'));
  expect(damageOf({ ...rest, registration })).toBeDefined();
  expect(damageOf({ ...rest, registration: registration && { ...registration, name: '' } })).toBeUndefined();
});

describe('the leader', () => {
  const cases: readonly [when: string, EtcdObservation, leader: string | undefined][] = [
    ['is the one that all members report', observed(3), 'etcd-0'],
    ['is not the one that reports itself in an older term', split('1', 2, '2', 3), 'etcd-1'],
    [
      'is the one that others report if a member in the newest term does not know it yet',
      split(undefined, 3, '2', 3),
      'etcd-1',
    ],
    ['is unknown if it does not answer the operator', observed(3, { 0: silent }), undefined],
    ['is unknown if no member reports one', split(undefined, 3, undefined, 3), undefined],
  ];
  it.each(cases)('%s', (_, observation, leader) => {
    expect(leaderOf(observation)?.name).toBe(leader);
  });

  function split(one: string | undefined, term: number, others: string | undefined, newer: number): EtcdObservation {
    return observed(3, {
      0: { status: observedStatus(0, leadership(one, term)) },
      1: { status: observedStatus(1, leadership(others, newer)) },
      2: { status: observedStatus(2, leadership(others, newer)) },
    });
  }
});

describe('a member is healthy', () => {
  const unhealthy: readonly [when: string, change: Partial<Member>][] = [
    ['it answers', silent],
    ['it answers with its registered id', { status: observedStatus(1, { memberId: '99' }) }],
    ['it follows the leader', { status: observedStatus(1, { leaderId: undefined }) }],
    ['it has applied the committed entries', { status: observedStatus(1, { raftAppliedIndex: 48_999 }) }],
    ['it knows the committed entries', { status: observedStatus(1, { raftIndex: 40_000, raftAppliedIndex: 40_000 }) }],
    ['its pod is not terminating', { pod: { uid: 'uid', revision: 'new', isTerminating: true, isRunning: true } }],
  ];
  it.each(unhealthy)('only if %s', (_, change) => {
    expect(healthyVoters(observed(3, { 1: change })).map(({ name }) => name)).toEqual(['etcd-0', 'etcd-2']);
  });

  it('also if it lacks the few entries written while the others were queried', () => {
    const change = { status: observedStatus(1, { raftAppliedIndex: 49_000 }) };
    expect(healthyVoters(observed(3, { 1: change }))).toHaveLength(3);
  });
});

describe('of members', () => {
  const unknownMember = (isLearner: boolean) => ({ id: '9', name: 'guest', isLearner, peerUrls: [] });
  const unregistered = observedMember(1, { registration: undefined });
  const ofSecond = { alarms: [{ alarm: 'Corrupt', memberId: '2' }] } as const;

  it('those with a vote count, also unknown ones', () => {
    expect(voterCount(observed(3, {}, { unknownMembers: [unknownMember(true)] }))).toBe(3);
    expect(voterCount(observed(3, {}, { unknownMembers: [unknownMember(false)] }))).toBe(4);
  });

  it('none is healthy while the leader is unknown', () => {
    expect(healthyVoters(observed(3, { 0: silent }))).toEqual([]);
    const lost = (ordinal: number) => ({ status: observedStatus(ordinal, leadership(undefined, 3)) });
    expect(healthyVoters(observed(3, { 0: lost(0), 1: lost(1), 2: lost(2) }))).toEqual([]);
  });

  it('one that answers is healthy although its pod is unknown', () => {
    expect(healthyVoters(observed(3, { 1: { pod: undefined } }))).toHaveLength(3);
  });

  it('one that is not registered is neither healthy nor corrupt', () => {
    expect(isHealthy(observed(3), unregistered)).toBe(false);
    expect(isCorrupt(observed(3, {}, ofSecond), unregistered)).toBe(false);
    expect(isCorrupt(observed(3, {}, ofSecond), observedMember(1))).toBe(true);
  });

  it('one that does not answer has not caught up', () => {
    expect(isCaughtUp(observed(3), observedMember(1, silent))).toBe(false);
  });

  it('there is a quorum only if a quorum confirms the membership', () => {
    expect(hasQuorum(observed(3))).toBe(true);
    expect(hasQuorum(observed(3, {}, { membership: 'unconfirmed' }))).toBe(false);
  });

  it('one that is not registered can have damaged data, but none to lose', () => {
    const left = observedMember(1, { ...damaged('unreadable'), registration: undefined });
    expect(damageOf(left)?.kind).toBe('unreadable');
    expect(isDataLost(left)).toBe(false);
  });
});

describe('the data of a member', () => {
  const claim = (memberId: string | undefined, isLost = false) => ({ memberId, isLost });
  const kept = (memberId: string) => ({ memberId, isLost: false, isReserved: true });
  const process = { uid: 'pod', revision: 'new', isTerminating: false };
  const restarted = { pod: { ...process, isRunning: true, restarts: 3 } };
  const failing = (restarts: number) => ({ status: undefined, pod: { ...process, isRunning: false, restarts } });
  const cases: readonly [when: string, change: Partial<Member>, isLost: boolean][] = [
    ['exists while it answers, whatever happened to the claim', { claim: undefined }, false],
    ['exists while its process is down', stopped, false],
    ['is gone with the claim', { ...stopped, claim: undefined }, true],
    ['is gone with the volume', { ...stopped, claim: claim('2', true) }, true],
    ['is gone if the claim holds that of another member', { ...stopped, claim: claim('77') }, true],
    ['is gone if the process cannot run on a new claim', { ...stopped, claim: claim(undefined) }, true],
    [
      'may exist while a process runs again on a new claim',
      { ...silent, ...restarted, claim: claim(undefined) },
      false,
    ],
    ['may exist while its pod does not exist yet', { ...silent, pod: undefined, claim: claim(undefined) }, false],
    ['is gone with the claim also while a process runs', { ...silent, claim: undefined }, true],
    ['is gone if the claim is reserved for another member', { ...failing(0), claim: kept('77') }, true],
    ['may exist while a founding member fails to start', { ...failing(3), claim: kept('2') }, false],
    ['is gone if a founding member fails repeatedly', { ...failing(4), claim: kept('2') }, true],
    ['may exist while a process runs on a new claim', { ...silent, claim: claim(undefined) }, false],
    ['is lost if etcd reports that it cannot read it', damaged('unreadable'), true],
    ['may exist if etcd has reported that once', oncePod('unreadable', { restarts: 1 }), false],
    ['may exist while etcd is restarted with it', oncePod('unreadable', { isRunning: true }), false],
    ['exists while the member answers, whatever it logged before', { pod: damaged('unreadable').pod }, false],
    ['may be the correct one if it differs', damaged('different'), false],
    ['is not lost for an ordinal without a member', { ...vacant, claim: undefined }, false],
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
])('of %i members %i are a quorum', (voters, quorum) => {
  expect(quorumOf(voters)).toBe(quorum);
});

describe('an etcd cluster was formed', () => {
  it('if a volume bears the mark of a member', () => {
    expect(wasFormed(observed(3, { 0: vacant, 1: vacant }).members)).toBe(true);
    expect(wasFormed(observed(3, { 0: { claim: undefined } }).members)).toBe(true);
    expect(wasFormed(observed(3, { 0: vacant, 1: vacant, 2: vacant }).members)).toBe(false);
  });
});
