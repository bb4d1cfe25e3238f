import { describe, expect, it } from 'vitest';
import { planDefragmentation, planSpaceStep } from '../../../reconciler/etcd/maintenance.ts';
import type { EtcdObservation, Member, MemberAlarm } from '../../../reconciler/etcd/members.ts';
import { mebibyte, observed, observedStatus, silent } from './observed.ts';

const sizes = (ordinal: number, size: number, inUse: number): Partial<Member> => ({
  status: observedStatus(ordinal, { dbSizeBytes: size * mebibyte, dbSizeInUseBytes: inUse * mebibyte }),
});
const defragment = (member: string) => ({ kind: 'act', step: { kind: 'defragment', member } });
const settled = { kind: 'settled' };

const fragmented: readonly [what: string, EtcdObservation, expected: unknown][] = [
  ['no member that would free little space', observed(3), settled],
  ['no member that would free much space but only a small share', observed(3, { 1: sizes(1, 4000, 3000) }), settled],
  ['a member that frees the minimum', observed(3, { 1: sizes(1, 200, 100) }), defragment('etcd-1')],
  ['a member that frees the minimum share', observed(3, { 1: sizes(1, 1000, 550) }), defragment('etcd-1')],
  [
    'no member while the leader is unknown',
    observed(3, { 0: silent, 1: sizes(1, 500, 200) }),
    { kind: 'wait', message: 'no quorum of etcd members confirms the members and the leader' },
  ],
  ['no small database, whatever the share', observed(3, { 1: sizes(1, 90, 1) }), settled],
  ['the follower with the most', observed(3, { 1: sizes(1, 500, 200), 2: sizes(2, 600, 200) }), defragment('etcd-2')],
  ['followers before the leader', observed(3, { 0: sizes(0, 900, 100), 1: sizes(1, 500, 200) }), defragment('etcd-1')],
  [
    'the leader only after it has moved leadership',
    observed(3, { 0: sizes(0, 900, 100) }),
    { kind: 'act', step: { kind: 'moveLeader', from: 'etcd-0', to: 'etcd-1', targetId: '2' } },
  ],
  [
    'the only member never without a request',
    observed(1, { 0: sizes(0, 900, 100) }),
    { kind: 'wait', message: 'etcd-0 is the only member, and etcd would not answer meanwhile' },
  ],
];

describe('defragmentation', () => {
  it.each(fragmented)('selects %s', (_, observation, expected) => {
    expect(planDefragmentation(observation, 8192 * mebibyte)).toEqual(expected);
  });
});

describe('defragmentation below a small quota', () => {
  const next = (...members: [size: number, inUse: number][]) =>
    planDefragmentation(
      observed(members.length, Object.fromEntries(members.map((one, ordinal) => [ordinal, sizes(ordinal, ...one)]))),
      100 * mebibyte,
    );

  it('starts before the file reaches the quota, also for the only member', () => {
    expect(next([81, 55])).toEqual(defragment('etcd-0'));
    expect(next([80, 60])).toEqual(defragment('etcd-0'));
    expect(next([50, 50], [81, 60], [50, 50])).toEqual(defragment('etcd-1'));
  });

  it('does not start early, nor if the volume grows instead', () => {
    expect(next([79, 10])).toEqual(settled);
    expect(next([95, 80])).toEqual(settled);
  });
});

const alarms: readonly MemberAlarm[] = [{ alarm: 'Nospace', memberId: '2' }];
const quotaBytes = 500 * mebibyte;
const compacted = { alarms, isCompacted: true };

const full: readonly [what: string, EtcdObservation, expected: unknown][] = [
  ['does nothing without an alarm', observed(3), settled],
  [
    'does nothing on a corruption alarm, which is not about space',
    observed(3, {}, { alarms: [{ alarm: 'Corrupt', memberId: '2' }] }),
    settled,
  ],
  [
    'waits for a leader before it compacts',
    observed(3, { 0: silent }, { alarms }),
    { kind: 'wait', message: 'etcd is full and has no leader, without which the operator cannot free space' },
  ],
  [
    'compacts first',
    observed(3, {}, { alarms }),
    { kind: 'act', step: { kind: 'compact', member: 'etcd-0', revision: 40_000 } },
  ],
  [
    'then defragments a follower',
    observed(3, { 0: sizes(0, 500, 9), 2: sizes(2, 500, 9) }, compacted),
    defragment('etcd-2'),
  ],
  ['defragments the only member, too', observed(1, { 0: sizes(0, 500, 9) }, compacted), defragment('etcd-0')],
  [
    'disarms when all members have space',
    observed(3, {}, compacted),
    { kind: 'act', step: { kind: 'disarm', member: 'etcd-0', alarm: 'Nospace', memberId: '2' } },
  ],
  [
    'disarms although a member does not answer',
    observed(3, { 2: silent }, compacted),
    { kind: 'act', step: { kind: 'disarm', member: 'etcd-0', alarm: 'Nospace', memberId: '2' } },
  ],
  [
    'disarms with 5 % free space, and does not defragment for the 10 % that a defragmentation may leave',
    observed(3, { 1: sizes(1, 475, 474), 2: sizes(2, 400, 360) }, compacted),
    { kind: 'act', step: { kind: 'disarm', member: 'etcd-0', alarm: 'Nospace', memberId: '2' } },
  ],
  [
    'waits while the data in use fills the quota',
    observed(3, { 1: sizes(1, 490, 489) }, compacted),
    {
      kind: 'wait',
      message: 'etcd is full: 513802240 of 524288000 bytes are in use: delete objects, or raise the volume size',
    },
  ],
];

describe('the recovery of a full database', () => {
  it.each(full)('%s', (_, observation, expected) => {
    expect(planSpaceStep(observation, quotaBytes)).toEqual(expected);
  });
});
