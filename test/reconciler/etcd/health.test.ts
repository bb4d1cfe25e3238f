import { expect, it } from 'vitest';
import { etcdHealth } from '../../../reconciler/etcd/health.ts';
import type { EtcdObservation } from '../../../reconciler/etcd/members.ts';
import { settled } from '../../../reconciler/etcd/steps.ts';
import { damaged, learner, observed, observedStatus, silent, stopped } from './observed.ts';

const gone = { ...stopped, claim: { memberId: undefined, isLost: false } };
const unknown = { membership: 'unknown' } as const;
const unregistered = { registration: undefined };
const alarm = (memberId: string, name: 'Nospace' | 'Corrupt') => ({ alarms: [{ memberId, alarm: name }] });

const member = (ordinal: number, role: 'Follower' | 'Learner' | 'Missing') => ({ name: `etcd-${ordinal}`, role });
const recorded = {
  members: [member(0, 'Follower'), member(1, 'Follower'), member(2, 'Follower')],
  backup: { lastBackup: 'b1' },
};

const cases: readonly [when: string, EtcdObservation, expected: string][] = [
  ['all members are healthy', observed(3), 'Healthy: '],
  [
    'a member does not answer',
    observed(3, { 1: { ...silent, problem: 'refused' } }),
    'NotHealthy: etcd-1 does not answer: refused',
  ],
  [
    'a member is behind',
    observed(3, { 1: { status: observedStatus(1, { raftAppliedIndex: 1 }) } }),
    'NotHealthy: etcd-1 is behind',
  ],
  ['a member joins', observed(3, { 2: learner(2) }), 'NotHealthy: etcd-2 is joining'],
  ['one volume is lost', observed(3, { 2: gone }), 'MemberDamaged: etcd-2 has lost its data'],
  [
    'one member does not start on its data',
    observed(3, { 2: damaged('unreadable') }),
    'MemberDamaged: etcd-2 does not start: its data is wrong',
  ],
  ['one member is corrupt', observed(3, {}, alarm('2', 'Corrupt')), 'MemberDamaged: etcd-1 has corrupt data'],
  [
    'the database is full',
    observed(3, {}, alarm('2', 'Nospace')),
    'SpaceExhausted: etcd is full and accepts no writes: see the condition EtcdClusterReady',
  ],
  [
    'there is an unknown member',
    observed(3, {}, { unknownMembers: [{ id: '9', name: 'x', isLearner: false, peerUrls: [] }] }),
    'NotHealthy: x was not created by the operator: remove it with etcdctl',
  ],
  [
    'too many members whose data exists do not answer',
    observed(3, { 1: silent, 2: { ...silent, problem: 'refused' } }),
    'NotHealthy: etcd has no quorum without etcd-1, etcd-2 (refused)',
  ],
  [
    'the only member does not start on its data',
    observed(1, { 0: { ...damaged('unreadable'), registration: undefined } }, unknown),
    'DataLost: the data of the only member of etcd is gone or damaged (the data of etcd-0 is wrong), and the operator does not start an empty etcd. The newest data is backup b1: set etcd.recovery.acceptDataLossTo to the one to recover from',
  ],
  [
    'a majority has lost its data',
    observed(
      3,
      { 0: { status: observedStatus(0, { leaderId: undefined }) }, 1: gone, 2: gone },
      { membership: 'unconfirmed' },
    ),
    'QuorumLost: the data of etcd-1 and etcd-2 is gone, and 1 of 3 members is no quorum. ' +
      'The newest data is revision 40000 of etcd-0, and backup b1: set etcd.recovery.acceptDataLossTo to the one to recover from',
  ],
  [
    'the only member has lost its data',
    observed(1, { 0: { ...gone, ...unregistered } }, unknown),
    'DataLost: the data of the only member of etcd is gone, and the operator does not start an empty etcd. ' +
      'The newest data is backup b1: set etcd.recovery.acceptDataLossTo to the one to recover from',
  ],
  [
    'no member answers and one volume is left',
    observed(
      3,
      { 0: { ...silent, ...unregistered }, 1: { ...gone, ...unregistered }, 2: { ...gone, ...unregistered } },
      unknown,
    ),
    'QuorumLost: the data of etcd-1 and etcd-2 is gone, and 1 of 3 members is no quorum. ' +
      'etcd-0 may still have data, but no member answers: wait until its revision is named here, or set etcd.recovery.acceptDataLossTo to backup b1',
  ],
  [
    'no member answers and all volumes exist',
    observed(
      3,
      { 0: { ...silent, ...unregistered }, 1: { ...silent, ...unregistered }, 2: { ...silent, ...unregistered } },
      unknown,
    ),
    'NotHealthy: etcd has no leader; unhealthy members: etcd-0, etcd-1, etcd-2',
  ],
];

it.each(cases)('the health is correct when %s', (_, observation, expected) => {
  const { reason, message } = etcdHealth({ observation, decision: settled }, recorded);
  expect(`${reason}: ${message}`).toBe(expected);
});

it('the message says when neither a member nor a backup is left', () => {
  const observation = observed(1, { 0: { ...gone, ...unregistered } }, unknown);
  expect(etcdHealth({ observation, decision: settled }, { members: recorded.members }).message).toContain(
    'No member is left, and no backup is known',
  );
});

it('the message does not advise to begin with an empty etcd while a member that does not answer may have data', () => {
  const observation = observed(
    3,
    { 0: { ...silent, ...unregistered }, 1: { ...gone, ...unregistered }, 2: { ...gone, ...unregistered } },
    unknown,
  );
  const { message } = etcdHealth({ observation, decision: settled }, { members: recorded.members });
  expect(message).toMatch(/etcd-0 may still have data, but no member answers: wait until its revision is named here$/);
});

it('an etcd of which only the ID is known has lost its data, and one that was never formed has not', () => {
  const nothing = { ...unregistered, status: undefined, pod: undefined, claim: undefined };
  const observation = observed(3, { 0: nothing, 1: nothing, 2: nothing }, unknown);
  expect(etcdHealth({ observation, decision: settled }, { clusterID: '1267' })).toMatchObject({
    reason: 'DataLost',
    message: expect.stringContaining('all 3 members of etcd is gone') as string,
  });
  expect(etcdHealth({ observation, decision: settled }, {})).toMatchObject({ reason: 'NotHealthy' });
});

it('an ordinal that was not a member yet does not count as lost, however few members answer', () => {
  const observation = observed(
    3,
    { 0: { ...silent, ...unregistered }, 1: { ...gone, ...unregistered }, 2: { ...gone, ...unregistered } },
    unknown,
  );
  for (const members of [[member(0, 'Follower'), member(1, 'Learner'), member(2, 'Missing')], undefined]) {
    const { reason, message } = etcdHealth({ observation, decision: settled }, members && { members });
    expect(`${reason}: ${message}`).toBe('NotHealthy: etcd has no leader; unhealthy members: etcd-0');
  }
});
