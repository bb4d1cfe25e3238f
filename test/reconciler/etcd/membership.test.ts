import { describe, expect, it } from 'vitest';
import type { EtcdObservation, Member } from '../../../reconciler/etcd/members.ts';
import { initialCluster, isAwaited, planMembershipStep, podsFor } from '../../../reconciler/etcd/membership.ts';
import type { Decision } from '../../../reconciler/etcd/steps.ts';
import { damaged, learner, observed, observedMember, observedStatus, silent, stopped, vacant } from './observed.ts';

/** A decision in few words. */
function summary(decision: Decision): string {
  if (decision.kind !== 'act') return decision.kind === 'wait' ? `wait: ${decision.message}` : decision.kind;
  const { step } = decision;
  return step.kind === 'moveLeader' ? `moveLeader ${step.from} ${step.to}` : `${step.kind} ${step.member}`;
}

const unmarked = { memberId: undefined, isLost: false };
const reserved = { memberId: '3', isLost: false, isReserved: true };
const slow = {
  status: undefined,
  pod: { uid: 'pod', revision: 'new', isTerminating: false, isRunning: false, restarts: 0 },
};
const going = (ordinal: number) => ({
  claim: { memberId: String(ordinal + 1), isLost: false, isTerminating: true },
});
const ofAnother = { memberId: '77', isLost: false };
const added = (ordinal: number) => {
  const { registration } = learner(ordinal);
  return { ...stopped, ...(registration ? { registration: { ...registration, name: '' } } : {}), claim: unmarked };
};
const corruptionOf = (memberId: string) => ({ alarms: [{ alarm: 'Corrupt', memberId }] }) as const;

/** Three members of which etcd-1 leads, with changes of the first one. */
const ledByAnother = (first: Partial<Member>, rest: Partial<EtcdObservation> = {}) =>
  observed(
    3,
    {
      0: { status: observedStatus(0, { leaderId: '2' }), ...first },
      1: { status: observedStatus(1, { leaderId: '2' }) },
      2: { status: observedStatus(2, { leaderId: '2' }) },
    },
    rest,
  );

const cases: readonly [when: string, EtcdObservation, wanted: number, expected: string][] = [
  ['all members are as desired', observed(3), 3, 'settled'],
  ['none answers', observed(3, {}, { membership: 'unknown' }), 3, 'wait: no etcd member answers'],
  [
    'two of three members are lost',
    observed(3, { 1: { ...stopped, claim: undefined }, 2: { ...stopped, claim: undefined } }),
    3,
    'wait: etcd has no quorum: 1 of 3 members are healthy',
  ],
  ['a volume is not marked', observed(3, { 1: { claim: unmarked } }), 3, 'markVolume etcd-1'],
  ['a member does not answer', observed(3, { 1: silent }), 3, 'settled'],
  ['a process is down and its volume exists', observed(3, { 1: stopped }), 3, 'settled'],
  ['a claim is gone', observed(3, { 1: { ...stopped, claim: undefined } }), 3, 'remove etcd-1'],
  [
    'a volume is lost with its node',
    observed(3, { 1: { ...stopped, claim: { memberId: '2', isLost: true } } }),
    3,
    'remove etcd-1',
  ],
  ['the claim of a running member is deleted', observed(3, { 1: { claim: undefined } }), 3, 'settled'],
  ['the claim of the first member is deleted', observed(3, { 0: { claim: undefined } }), 3, 'settled'],
  ['a surplus ordinal has a pod and no claim', observed(4, { 3: { ...vacant, claim: undefined } }), 3, 'settled'],
  [
    'an ordinal is vacant and a defragmentation is in progress',
    observed(3, { 1: vacant }, { inProgress: { act: 'defragmentation', member: 'etcd-2' } }),
    3,
    'wait: defragmentation of etcd-2 is in progress',
  ],
  [
    'a new claim replaces that of another member',
    observed(3, { 1: { ...stopped, claim: unmarked } }),
    3,
    'markVolume etcd-1',
  ],
  [
    'a new member is registered by name before its pod is reported as running',
    observed(3, { 2: { ...learner(2), ...slow, claim: unmarked } }),
    3,
    'wait: etcd-2 is joining',
  ],
  [
    'that claim is marked as belonging to no member',
    observed(3, { 1: { ...stopped, claim: ofAnother } }),
    3,
    'remove etcd-1',
  ],
  [
    'the volume of a removed member exists',
    observed(3, { 1: { ...vacant, claim: ofAnother } }),
    3,
    'discardVolume etcd-1',
  ],
  [
    'the volume of a removed surplus member exists',
    observed(2, { 1: { ...vacant, pod: undefined, claim: ofAnother } }),
    1,
    'discardVolume etcd-1',
  ],
  [
    'the pod of a removed member would get a new claim at once',
    observed(2, { 1: { ...vacant, claim: ofAnother } }),
    1,
    'wait: the pod of etcd-1 is being removed',
  ],
  [
    'a founding member has not answered yet and no volume is marked',
    observed(3, { 0: { claim: unmarked }, 1: { claim: unmarked }, 2: { ...stopped, claim: unmarked } }),
    3,
    'reserveVolume etcd-2',
  ],
  [
    'the volume of a founding member is reserved',
    observed(3, { 0: { claim: unmarked }, 2: { ...slow, claim: reserved } }),
    3,
    'markVolume etcd-0',
  ],
  [
    'all founding members answer and no volume is marked',
    observed(3, { 0: { claim: unmarked }, 1: { claim: unmarked }, 2: { claim: unmarked } }),
    3,
    'markVolume etcd-0',
  ],
  [
    'the only founding member that has not answered has its volume reserved, and no other is marked',
    observed(3, { 0: { claim: unmarked }, 1: { claim: unmarked }, 2: { ...slow, claim: reserved } }),
    3,
    'markVolume etcd-0',
  ],
  [
    'a second founding member has not answered either',
    observed(3, { 0: { claim: unmarked }, 1: { ...slow, claim: unmarked }, 2: { ...slow, claim: reserved } }, {}),
    3,
    'wait: etcd has no quorum: 1 of 3 members are healthy',
  ],
  [
    'two of five founding members have not answered, and one of them has its volume reserved',
    observed(5, {
      0: { claim: unmarked },
      1: { claim: unmarked },
      2: { ...slow, claim: reserved },
      3: { ...slow, claim: unmarked },
      4: { claim: unmarked },
    }),
    5,
    'reserveVolume etcd-3',
  ],
  [
    'an ordinal is vacant before a founding member that has not answered',
    observed(5, {
      0: { claim: unmarked },
      1: { ...vacant },
      2: { claim: unmarked },
      3: { ...slow, claim: unmarked },
      4: { claim: unmarked },
    }),
    5,
    'reserveVolume etcd-3',
  ],
  [
    'a second member was added before the volume of the first is marked',
    observed(2, { 0: { claim: unmarked }, 1: added(1) }),
    2,
    'markVolume etcd-0',
  ],
  ['all but a slow founding member are marked', observed(3, { 2: { ...slow, claim: reserved } }), 3, 'settled'],
  ['a founding member answers', observed(3, { 2: { claim: reserved } }), 3, 'markVolume etcd-2'],
  ['a founding member can never start', observed(3, { 2: { ...stopped, claim: reserved } }), 3, 'remove etcd-2'],
  ['an ordinal is vacant', observed(3, { 1: vacant }), 3, 'addLearner etcd-1'],
  [
    'an ordinal is vacant and another member is unhealthy',
    observed(5, { 1: vacant, 2: silent }),
    5,
    'wait: etcd-1 joins when all members are healthy: 3 of 4 are',
  ],
  ['the claim of a follower is being deleted', observed(3, { 2: going(2) }), 3, 'remove etcd-2'],
  ['the claim of the leader is being deleted', observed(3, { 0: going(0) }), 3, 'moveLeader etcd-0 etcd-1'],
  [
    'the claims of all members are being deleted',
    observed(3, { 0: going(0), 1: going(1), 2: going(2) }),
    3,
    'remove etcd-1',
  ],
  [
    'another one joins in its place',
    observed(3, { 0: going(0), 1: { ...vacant, claim: unmarked }, 2: going(2) }),
    3,
    'addLearner etcd-1',
  ],
  [
    'the claim of a follower is being deleted, and another one is unhealthy',
    observed(3, { 1: silent, 2: going(2) }),
    3,
    'wait: without etcd-2 only 1 of 3 members are healthy, but a quorum needs 2',
  ],
  ['the claim of one of two members is being deleted', observed(2, { 1: going(1) }), 2, 'remove etcd-1'],
  ['the claim of a surplus member is being deleted, too', observed(3, { 1: going(1) }), 1, 'remove etcd-2'],
  ['the claim of the only member is being deleted', observed(1, { 0: going(0) }), 1, 'settled'],
  ['that of the only member is, and others are to join', observed(1, { 0: going(0) }), 3, 'settled'],
  ['a learner has not started', observed(3, { 1: { ...added(1), ...slow } }), 3, 'wait: etcd-1 is joining'],
  [
    'a learner has failed to start three times',
    observed(3, { 1: { ...added(1), pod: { ...slow.pod, restarts: 3 } } }),
    3,
    'wait: etcd-1 is joining',
  ],
  [
    'a learner has failed to start four times',
    observed(3, { 1: { ...added(1), pod: { ...slow.pod, restarts: 4 } } }),
    3,
    'markVolume etcd-1',
  ],
  // Its volume may hold what it has confirmed before it could report its name: it is not emptied while it is a member.
  ['a learner has failed to start often', observed(3, { 1: added(1) }), 3, 'markVolume etcd-1'],
  [
    'old data prevents a learner from starting',
    observed(3, { 1: { ...added(1), claim: ofAnother } }),
    3,
    'remove etcd-1',
  ],
  [
    'a learner is behind',
    observed(3, { 1: learner(1, { status: observedStatus(1, { raftAppliedIndex: 9 }) }) }),
    3,
    'wait: etcd-1 is joining',
  ],
  ['a learner has all data', observed(3, { 1: learner(1) }), 3, 'promote etcd-1'],
  ['a learner lost its volume', observed(3, { 1: learner(1, { ...stopped, claim: undefined }) }), 3, 'remove etcd-1'],
  ['a learner is surplus', observed(4, { 3: learner(3) }), 3, 'remove etcd-3'],
  [
    'another member is lost while one is joining',
    observed(5, { 1: learner(1), 2: { ...stopped, claim: undefined } }),
    5,
    'promote etcd-1',
  ],
  ['there are too many members', observed(5), 3, 'remove etcd-4'],
  ['one of two members is surplus', observed(2), 1, 'remove etcd-1'],
  ['the surplus member is already unhealthy', observed(5, { 4: silent }), 3, 'remove etcd-4'],
  [
    'the surplus member leads',
    observed(2, {
      0: { status: observedStatus(0, { leaderId: '2' }) },
      1: { status: observedStatus(1, { leaderId: '2' }) },
    }),
    1,
    'moveLeader etcd-1 etcd-0',
  ],
  ['a member cannot start with its data', observed(3, { 1: damaged('unreadable') }), 3, 'remove etcd-1'],
  [
    'two of three members cannot start with their data',
    observed(3, { 1: damaged('unreadable'), 2: damaged('unreadable') }),
    3,
    'wait: etcd has no quorum: 1 of 3 members are healthy',
  ],
  [
    'a member has joined whose pod did not start with the previous data',
    observed(3, { 2: { ...added(2), pod: damaged('unreadable').pod, claim: ofAnother } }),
    3,
    'remove etcd-2',
  ],
  [
    'a learner cannot start with its data',
    observed(3, { 2: { ...learner(2), ...damaged('unreadable') } }),
    3,
    'remove etcd-2',
  ],
  [
    'a member refuses to start because its data differs, and the other members agree',
    observed(3, { 1: damaged('different') }, { doMembersAgree: true }),
    3,
    'remove etcd-1',
  ],
  [
    'a member refuses to start because its data differs, and the other members differ too',
    observed(3, { 1: damaged('different') }, { doMembersAgree: false }),
    3,
    'wait: the data of etcd members differs, and etcd cannot determine which member is corrupt: restore a backup',
  ],
  [
    'a member refuses to start because its data differs, and the other members cannot be compared now',
    observed(3, { 1: damaged('different') }),
    3,
    'settled',
  ],
  ['a follower is corrupt', observed(3, {}, corruptionOf('2')), 3, 'remove etcd-1'],
  ['the leader is corrupt', observed(3, {}, corruptionOf('1')), 3, 'moveLeader etcd-0 etcd-1'],
  ['a corrupt member is gone and its alarm remains', observed(3, { 1: vacant }, corruptionOf('2')), 3, 'disarm etcd-0'],
  [
    'the corrupt member is unknown',
    observed(3, {}, corruptionOf('0')),
    3,
    'wait: the data of etcd members differs, and etcd cannot determine which member is corrupt: restore a backup',
  ],
  [
    'etcd could not identify the corrupt member at first, and now can',
    observed(3, {}, { alarms: [...corruptionOf('0').alarms, ...corruptionOf('2').alarms] }),
    3,
    'disarm etcd-0',
  ],
  [
    'the corrupt member is unknown, and a member is full',
    observed(3, {}, { alarms: [{ alarm: 'Nospace', memberId: '2' }, ...corruptionOf('0').alarms] }),
    3,
    'wait: the data of etcd members differs, and etcd cannot determine which member is corrupt: restore a backup',
  ],
  [
    'a member cannot read its data, whatever the state of the others',
    observed(3, { 1: damaged('unreadable') }, { doMembersAgree: false }),
    3,
    'remove etcd-1',
  ],
  [
    'a full member is gone and its space alarm remains',
    observed(3, {}, { alarms: [{ alarm: 'Nospace', memberId: '77' }] }),
    3,
    'settled',
  ],
  [
    'a corrupt member is gone and the first does not answer',
    ledByAnother(silent, corruptionOf('77')),
    3,
    'disarm etcd-1',
  ],
  [
    'a corrupt member is gone and the first has no vote',
    ledByAnother(learner(0), corruptionOf('77')),
    3,
    'disarm etcd-1',
  ],
  [
    'a corrupt member is gone and the first is no member any more',
    ledByAnother({ registration: undefined }, corruptionOf('77')),
    3,
    'disarm etcd-1',
  ],
  [
    'there is an unknown member',
    observed(3, {}, { unknownMembers: [{ id: '9', name: 'guest', isLearner: true, peerUrls: [] }] }),
    3,
    'wait: etcd member guest was not created by the operator: remove it with etcdctl',
  ],
];

describe('the next membership step', () => {
  it.each(cases)('is correct when %s', (_, observation, wanted, expected) => {
    expect(summary(planMembershipStep(observation, wanted))).toBe(expected);
  });
});

describe('a member that joins', () => {
  it('gets the registered members and itself as the initial cluster', () => {
    const observation = observed(3, { 1: vacant, 2: vacant });
    expect(initialCluster(observation, 'etcd-1')).toBe('etcd-0=https://etcd-0:2380,etcd-1=https://etcd-1:2380');
  });

  const forming = { 0: { claim: unmarked }, 1: { claim: unmarked } };
  const starts: readonly [
    who: string,
    change: Partial<Member>,
    others: Record<number, Partial<Member>>,
    expected: boolean,
  ][] = [
    ['was added and has never started', added(2), {}, true],
    ['has its volume reserved since the formation', { ...slow, claim: reserved }, {}, true],
    ['has not answered while no volume is marked yet', { ...slow, claim: unmarked }, forming, true],
    ['has no volume claim yet at the formation', { ...slow, claim: undefined }, forming, true],
    ['has started before and is down', stopped, {}, false],
    ['has started before, is down and has lost its claim', { ...stopped, claim: undefined }, {}, false],
    ['answers, also at the formation', { claim: unmarked }, forming, false],
    ['is no member', vacant, forming, false],
  ];
  it.each(starts)(
    'gets the initial cluster before it starts for the first time: one that %s',
    (_, change, others, expected) => {
      expect(isAwaited(observed(3, { ...others, 2: change }), observedMember(2, change))).toBe(expected);
    },
  );
});

describe('the pods of etcd', () => {
  it('exist for members, and for those that were added', () => {
    expect(podsFor(observed(3, { 1: vacant, 2: vacant }))).toBe(1);
    expect(podsFor(observed(3, { 1: vacant, 2: learner(2) }))).toBe(3);
  });
});
