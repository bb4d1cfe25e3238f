import { expect, it } from 'vitest';
import type { EtcdObservation, Member } from '../../../reconciler/etcd/members.ts';
import { nextRolloutStep } from '../../../reconciler/etcd/rollout.ts';
import { observed, observedMember, silent, stopped } from './observed.ts';

const old = { pod: { uid: 'uid', revision: 'old', isTerminating: false, isRunning: true } };
const ready = ({ pod }: Pick<Partial<Member>, 'pod'>, isReady: boolean) => ({ pod: pod && { ...pod, isReady } });
const replace = (member: string, podUid = 'uid') => ({ kind: 'Act', step: { kind: 'ReplacePod', member, podUid } });

const cases: readonly [what: string, EtcdObservation, expected: unknown][] = [
  ['nothing when all pods are new', observed(3), { kind: 'Settled' }],
  ['followers from the highest ordinal down', observed(3, { 0: old, 1: old, 2: old }), replace('etcd-2')],
  ['the next follower before the leader', observed(3, { 0: old, 1: old }), replace('etcd-1')],
  [
    'leadership, to a member that is new already, before the leader',
    observed(3, { 0: old }),
    { kind: 'Act', step: { kind: 'MoveLeader', from: 'etcd-0', to: 'etcd-1', targetId: '2' } },
  ],
  ['the leader when it is the only member', observed(1, { 0: old }), replace('etcd-0')],
  ['the pod that does not run first', observed(3, { 0: old, 1: stopped, 2: old }), replace('etcd-1', 'pod')],
  [
    'the member that is ill before those that are well',
    observed(3, { 1: { ...old, ...silent }, 2: old }),
    replace('etcd-1'),
  ],
  [
    'nothing while a new pod is well and clients do not come to it yet',
    observed(3, { 1: ready(old, true), 2: ready(observedMember(2), false) }),
    { kind: 'Wait', message: 'the pod of etcd-2 is not ready yet' },
  ],
  [
    'a pod that clients do not come to before others',
    observed(3, { 1: ready(old, false), 2: ready(old, true) }),
    replace('etcd-1'),
  ],
  [
    'a pod that clients do not come to, whatever the others are',
    observed(3, { 1: ready(old, false), 2: ready(observedMember(2), false) }),
    replace('etcd-1'),
  ],
  [
    'nothing while a new pod is not well yet',
    observed(3, { 1: old, 2: { ...silent } }),
    { kind: 'Wait', message: 'without etcd-1 only 1 of 3 members are well, 2 must be' },
  ],
];

it.each(cases)('a rollout replaces %s', (_, observation, expected) => {
  expect(nextRolloutStep(observation, { revision: 'new', cause: 'Asked' })).toEqual(expected);
});
