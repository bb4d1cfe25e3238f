import { expect, it } from 'vitest';
import type { EtcdObservation, Member } from '../../../reconciler/etcd/members.ts';
import { planRolloutStep } from '../../../reconciler/etcd/plan-step.ts';
import { observed, observedMember, observedStatus, silent, stopped } from './observed.ts';

const old = { pod: { uid: 'uid', revision: 'old', isTerminating: false, isRunning: true } };
const ready = ({ pod }: Pick<Partial<Member>, 'pod'>, isReady: boolean) => ({ pod: pod && { ...pod, isReady } });
const replace = (member: string, podUid = 'uid') => ({ kind: 'act', step: { kind: 'replacePod', member, podUid } });

const away: Partial<Member> = { status: undefined, pod: undefined };
const ledByTheLast = (ordinal: number) => ({ status: observedStatus(ordinal, { leaderId: '3' }) });
const move = (to: string, targetId: string) => ({
  kind: 'act',
  step: { kind: 'moveLeader', from: 'etcd-0', to, targetId },
});

const cases: readonly [what: string, EtcdObservation, expected: unknown][] = [
  ['nothing when all pods are new', observed(3), { kind: 'settled' }],
  ['followers from the highest ordinal down', observed(3, { 0: old, 1: old, 2: old }), replace('etcd-2')],
  [
    'a member that does not reach another one first',
    observed(3, { 0: old, 1: old, 2: old }, { missingConnections: [{ from: 'etcd-1', to: 'etcd-0' }] }),
    replace('etcd-1'),
  ],
  [
    'one of the members that do not reach another one first',
    observed(
      3,
      { 0: old, 1: old, 2: old },
      {
        missingConnections: [
          { from: 'etcd-0', to: 'etcd-1' },
          { from: 'etcd-1', to: 'etcd-0' },
        ],
      },
    ),
    replace('etcd-1'),
  ],
  [
    'nothing while one of the others does not reach the other',
    observed(3, { 1: old }, { missingConnections: [{ from: 'etcd-2', to: 'etcd-0' }] }),
    {
      kind: 'wait',
      message: expect.stringContaining('etcd-2 does not reach etcd-0, and etcd-1 keeps its pod until it does: look'),
    },
  ],
  [
    'no leadership while one of the others does not reach the other',
    observed(3, { 0: old }, { missingConnections: [{ from: 'etcd-2', to: 'etcd-1' }] }),
    { kind: 'wait', message: expect.stringContaining('etcd-2 does not reach etcd-1') },
  ],
  [
    'a pod that does not run although one of the others does not reach the other',
    observed(3, { 1: stopped }, { missingConnections: [{ from: 'etcd-2', to: 'etcd-0' }] }),
    replace('etcd-1', 'pod'),
  ],
  ['the next follower before the leader', observed(3, { 0: old, 1: old }), replace('etcd-1')],
  [
    'leadership, to a member that is already new, before the leader',
    observed(3, { 0: old }),
    { kind: 'act', step: { kind: 'moveLeader', from: 'etcd-0', to: 'etcd-1', targetId: '2' } },
  ],
  [
    'the leader last, whatever its ordinal',
    observed(3, {
      0: { ...old, ...ledByTheLast(0) },
      1: { ...old, ...ledByTheLast(1) },
      2: { ...old, ...ledByTheLast(2) },
    }),
    replace('etcd-1'),
  ],
  [
    'leadership, from a leader whose pod is not ready, to the member that is already new',
    observed(3, { 0: ready(old, false), 1: ready(old, true), 2: ready(observedMember(2), true) }),
    move('etcd-2', '3'),
  ],
  [
    'leadership, from such a leader, to an old member if none is new',
    observed(3, { 0: ready(old, false), 1: ready(old, true), 2: ready(old, true) }),
    move('etcd-1', '2'),
  ],
  [
    'nothing while no other member can lead',
    observed(3, { 0: old, 1: silent, 2: silent }),
    { kind: 'wait', message: 'no other etcd member can take over leadership' },
  ],
  ['nothing if a pod is missing and the others are new', observed(3, { 1: away }), { kind: 'settled' }],
  [
    'nothing while a pod is missing and the others are needed',
    observed(3, { 1: away, 2: old }),
    { kind: 'wait', message: 'without etcd-2 only 1 of 3 members are healthy, but a quorum needs 2' },
  ],
  [
    'pods that do not run although there is no quorum',
    observed(3, { 1: stopped, 2: stopped }),
    replace('etcd-2', 'pod'),
  ],
  [
    'a pod that does not run before one that runs and is unhealthy',
    observed(3, { 1: stopped, 2: { ...old, ...silent } }),
    replace('etcd-1', 'pod'),
  ],
  ['the leader when it is the only member', observed(1, { 0: old }), replace('etcd-0')],
  ['the pod that does not run first', observed(3, { 0: old, 1: stopped, 2: old }), replace('etcd-1', 'pod')],
  ['an unhealthy member before healthy ones', observed(3, { 1: { ...old, ...silent }, 2: old }), replace('etcd-1')],
  [
    'nothing while a new member is healthy and its pod is not ready yet',
    observed(3, { 1: ready(old, true), 2: ready(observedMember(2), false) }),
    { kind: 'wait', message: 'the pod of etcd-2 is not ready yet' },
  ],
  [
    'a pod that is not ready before others',
    observed(3, { 1: ready(old, false), 2: ready(old, true) }),
    replace('etcd-1'),
  ],
  [
    'a pod that is not ready, whatever the state of the others',
    observed(3, { 1: ready(old, false), 2: ready(observedMember(2), false) }),
    replace('etcd-1'),
  ],
  [
    'nothing while a new member is not healthy yet',
    observed(3, { 1: old, 2: { ...silent } }),
    { kind: 'wait', message: 'without etcd-1 only 1 of 3 members are healthy, but a quorum needs 2' },
  ],
];

it.each(cases)('a rollout replaces %s', (_, observation, expected) => {
  expect(planRolloutStep(observation, { revision: 'new', cause: 'requested' })).toEqual(expected);
});

it('a rollout replaces nothing while the revision of the template is unknown', () => {
  const observation = observed(3, { 2: old });
  expect(planRolloutStep(observation, { revision: undefined, cause: 'requested' })).toEqual({ kind: 'settled' });
});
