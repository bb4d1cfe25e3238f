import { expect, it } from 'vitest';
import type { EtcdObservation, Member } from '../../../reconciler/etcd/members.ts';
import { planEtcdStep } from '../../../reconciler/etcd/plan-step.ts';
import { mebibyte, observed, observedStatus, stopped, vacant } from './observed.ts';

const quotaBytes = 500 * mebibyte;
const outdated: Partial<Member> = { pod: { uid: 'uid', revision: 'old', isTerminating: false, isRunning: true } };
const fragmented = (ordinal: number): Partial<Member> => ({
  status: observedStatus(ordinal, { dbSizeBytes: 390 * mebibyte, dbSizeInUseBytes: 100 * mebibyte }),
});
const full = { alarms: [{ alarm: 'Nospace', memberId: '1' }] } as const;
const overfull = { status: observedStatus(1, { dbSizeBytes: quotaBytes, dbSizeInUseBytes: quotaBytes }) };

const cases: readonly [first: string, EtcdObservation, replicas: number, expected: string][] = [
  ['makes etcd writable before it adds a member', observed(3, { 2: vacant }, full), 3, 'compact'],
  ['adds a member before it replaces pods', observed(3, { 1: outdated, 2: vacant }), 3, 'addLearner'],
  ['replaces pods before it defragments', observed(3, { 1: outdated, 2: fragmented(2) }), 3, 'replacePod'],
  ['defragments when everything else is as desired', observed(3, { 2: fragmented(2) }), 3, 'defragment'],
  ['does not defragment while a member is down', observed(3, { 1: stopped, 2: fragmented(2) }), 3, 'replacePod'],
  [
    'defragments the only member before its file reaches the quota',
    observed(1, {
      0: { status: observedStatus(0, { dbSizeBytes: 450 * mebibyte, dbSizeInUseBytes: 300 * mebibyte }) },
    }),
    1,
    'defragment',
  ],
  ['does not wait for maintenance of the only member', observed(1, { 0: fragmented(0) }), 1, 'settled'],
  [
    'continues with pods while a full database waits for a larger quota',
    observed(3, { 1: { ...overfull, ...outdated } }, { ...full, isCompacted: true }),
    3,
    'replacePod',
  ],
  [
    'waits for space when nothing else is to be done',
    observed(3, { 1: overfull }, { ...full, isCompacted: true }),
    3,
    'wait',
  ],
];

it.each(cases)('the operator %s', (_, observation, replicas, expected) => {
  const decision = planEtcdStep(observation, { replicas, revision: 'new', cause: 'requested', quotaBytes });
  expect(decision.kind === 'act' ? decision.step.kind : decision.kind).toBe(expected);
});
