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
const ofAnother = { memberId: '77', isLost: false };
const added = (ordinal: number) => {
  const { registration } = learner(ordinal);
  return { ...stopped, ...(registration ? { registration: { ...registration, name: '' } } : {}), claim: unmarked };
};
const corruptionOf = (memberId: string) => ({ alarms: [{ alarm: 'Corrupt', memberId }] }) as const;

/** Three members of which etcd-1 leads, with what is different about the first. */
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
  ['all are as wanted', observed(3), 3, 'settled'],
  ['none answers', observed(3, {}, { membership: 'unknown' }), 3, 'wait: no etcd member answers'],
  [
    'two of three are lost',
    observed(3, { 1: { ...stopped, claim: undefined }, 2: { ...stopped, claim: undefined } }),
    3,
    'wait: etcd has no quorum: 1 of 3 members are healthy',
  ],
  ['a volume has no mark', observed(3, { 1: { claim: unmarked } }), 3, 'markVolume etcd-1'],
  ['a member just does not answer', observed(3, { 1: silent }), 3, 'settled'],
  ['a process is down and its volume is there', observed(3, { 1: stopped }), 3, 'settled'],
  ['a claim is gone', observed(3, { 1: { ...stopped, claim: undefined } }), 3, 'remove etcd-1'],
  [
    'a volume is lost with its node',
    observed(3, { 1: { ...stopped, claim: { memberId: '2', isLost: true } } }),
    3,
    'remove etcd-1',
  ],
  ['a claim is deleted below a member that still runs', observed(3, { 1: { claim: undefined } }), 3, 'settled'],
  ['so is that of the first', observed(3, { 0: { claim: undefined } }), 3, 'settled'],
  [
    'a place that is not wanted has a pod and no claim',
    observed(4, { 3: { ...vacant, claim: undefined } }),
    3,
    'settled',
  ],
  [
    'a place is empty and a defragmentation is in progress',
    observed(3, { 1: vacant }, { inProgress: { act: 'defragmentation', member: 'etcd-2' } }),
    3,
    'wait: defragmentation of etcd-2 is in progress',
  ],
  [
    'a new claim is in the place of another',
    observed(3, { 1: { ...stopped, claim: unmarked } }),
    3,
    'markVolume etcd-1',
  ],
  [
    'a new member is known by name before its pod is known to run',
    observed(3, { 2: { ...learner(2), ...slow, claim: unmarked } }),
    3,
    'wait: etcd-2 is joining',
  ],
  ['that claim is marked as nobody’s', observed(3, { 1: { ...stopped, claim: ofAnother } }), 3, 'remove etcd-1'],
  [
    'what a removed member left is still there, until its successor is registered',
    observed(3, { 1: { ...vacant, claim: ofAnother } }),
    3,
    'addLearner etcd-1',
  ],
  [
    'what a removed member left is not wanted',
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
    'two of five founding members have not answered, of which one has its volume reserved',
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
    'a place is vacant before a founding member that has not answered',
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
  ['a founding member is there', observed(3, { 2: { claim: reserved } }), 3, 'markVolume etcd-2'],
  ['a founding member can never start', observed(3, { 2: { ...stopped, claim: reserved } }), 3, 'remove etcd-2'],
  ['a place is empty', observed(3, { 1: vacant }), 3, 'addLearner etcd-1'],
  [
    'a place is empty and another member ill',
    observed(5, { 1: vacant, 2: silent }),
    5,
    'wait: etcd-1 joins when all members are healthy: 3 of 4 are',
  ],
  ['a learner has not started', observed(3, { 1: added(1) }), 3, 'wait: etcd-1 is joining'],
  ['old data keeps it from starting', observed(3, { 1: { ...added(1), claim: ofAnother } }), 3, 'discardVolume etcd-1'],
  [
    'a learner is behind',
    observed(3, { 1: learner(1, { status: observedStatus(1, { raftAppliedIndex: 9 }) }) }),
    3,
    'wait: etcd-1 is joining',
  ],
  ['a learner has all data', observed(3, { 1: learner(1) }), 3, 'promote etcd-1'],
  ['a learner lost its volume', observed(3, { 1: learner(1, { ...stopped, claim: undefined }) }), 3, 'remove etcd-1'],
  ['a learner is not wanted any more', observed(4, { 3: learner(3) }), 3, 'remove etcd-3'],
  [
    'another is lost while one is joining',
    observed(5, { 1: learner(1), 2: { ...stopped, claim: undefined } }),
    5,
    'promote etcd-1',
  ],
  ['members are too many', observed(5), 3, 'remove etcd-4'],
  ['one of two is too many', observed(2), 1, 'remove etcd-1'],
  ['the one that is too many is ill already', observed(5, { 4: silent }), 3, 'remove etcd-4'],
  [
    'the one that is too many leads',
    observed(2, {
      0: { status: observedStatus(0, { leaderId: '2' }) },
      1: { status: observedStatus(1, { leaderId: '2' }) },
    }),
    1,
    'moveLeader etcd-1 etcd-0',
  ],
  ['a member does not start on its data', observed(3, { 1: damaged('unreadable') }), 3, 'remove etcd-1'],
  [
    'so do two of three',
    observed(3, { 1: damaged('unreadable'), 2: damaged('unreadable') }),
    3,
    'wait: etcd has no quorum: 1 of 3 members are healthy',
  ],
  [
    'a member has joined whose pod did not start on what was there before',
    observed(3, { 2: { ...added(2), pod: damaged('unreadable').pod, claim: ofAnother } }),
    3,
    'discardVolume etcd-2',
  ],
  ['a learner does not', observed(3, { 2: { ...learner(2), ...damaged('unreadable') } }), 3, 'remove etcd-2'],
  [
    'a member is refused because it differs, and the others are the same',
    observed(3, { 1: damaged('different') }, { doMembersAgree: true }),
    3,
    'remove etcd-1',
  ],
  [
    'a member is refused because it differs, and so do the others',
    observed(3, { 1: damaged('different') }, { doMembersAgree: false }),
    3,
    'wait: the data of etcd members differs, and etcd cannot determine which member is corrupt: restore a backup',
  ],
  [
    'a member is refused because it differs, and the others cannot be compared now',
    observed(3, { 1: damaged('different') }),
    3,
    'settled',
  ],
  ['a follower is corrupt', observed(3, {}, corruptionOf('2')), 3, 'remove etcd-1'],
  ['the leader is corrupt', observed(3, {}, corruptionOf('1')), 3, 'moveLeader etcd-0 etcd-1'],
  ['a corrupt member is gone and its alarm not', observed(3, { 1: vacant }, corruptionOf('2')), 3, 'disarm etcd-0'],
  [
    'nobody knows which member is corrupt',
    observed(3, {}, corruptionOf('0')),
    3,
    'wait: the data of etcd members differs, and etcd cannot determine which member is corrupt: restore a backup',
  ],
  [
    'etcd could not say at first which member is corrupt, and now can',
    observed(3, {}, { alarms: [...corruptionOf('0').alarms, ...corruptionOf('2').alarms] }),
    3,
    'disarm etcd-0',
  ],
  [
    'nobody knows which member is corrupt, and one is full',
    observed(3, {}, { alarms: [{ alarm: 'Nospace', memberId: '2' }, ...corruptionOf('0').alarms] }),
    3,
    'wait: the data of etcd members differs, and etcd cannot determine which member is corrupt: restore a backup',
  ],
  [
    'a member cannot read its data, whatever the others are',
    observed(3, { 1: damaged('unreadable') }, { doMembersAgree: false }),
    3,
    'remove etcd-1',
  ],
  [
    'a full member is gone and its alarm not, which is about space',
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
    'there is a member that is none of ours',
    observed(3, {}, { unknownMembers: [{ id: '9', name: 'guest', isLearner: true, peerUrls: [] }] }),
    3,
    'wait: etcd member guest was not created by the operator: remove it with etcdctl',
  ],
];

describe('the next membership step', () => {
  it.each(cases)('when %s', (_, observation, wanted, expected) => {
    expect(summary(planMembershipStep(observation, wanted))).toBe(expected);
  });
});

describe('a member that joins', () => {
  it('is told those that are registered and itself', () => {
    const observation = observed(3, { 1: vacant, 2: vacant });
    expect(initialCluster(observation, 'etcd-1')).toBe('etcd-0=https://etcd-0:2380,etcd-1=https://etcd-1:2380');
  });

  const forming = { 0: { claim: unmarked }, 1: { claim: unmarked } };
  const starts: readonly [
    who: string,
    change: Partial<Member>,
    others: Record<number, Partial<Member>>,
    told: boolean,
  ][] = [
    ['was added and has never started', added(2), {}, true],
    ['has its volume reserved since the formation', { ...slow, claim: reserved }, {}, true],
    ['has not answered and nobody has marked a volume yet', { ...slow, claim: unmarked }, forming, true],
    ['has no volume claim yet at the formation', { ...slow, claim: undefined }, forming, true],
    ['has started before and is down', stopped, {}, false],
    ['has started before, is down and has lost its claim', { ...stopped, claim: undefined }, {}, false],
    ['answers, also at the formation', { claim: unmarked }, forming, false],
    ['is no member', vacant, forming, false],
  ];
  it.each(starts)('is told the others before it starts for the first time: one that %s', (_, change, others, told) => {
    expect(isAwaited(observed(3, { ...others, 2: change }), observedMember(2, change))).toBe(told);
  });
});

describe('the pods of etcd', () => {
  it('are there for members, and for those that were added', () => {
    expect(podsFor(observed(3, { 1: vacant, 2: vacant }))).toBe(1);
    expect(podsFor(observed(3, { 1: vacant, 2: learner(2) }))).toBe(3);
  });
});
