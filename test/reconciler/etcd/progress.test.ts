import type { StatefulSetObject } from '../../../imports/kubernetes.ts';
import { expect, it } from 'vitest';
import { StatefulSet } from '../../../constructs/api/resources.ts';
import type { CurrentReport } from '../../../reconciler/etcd/loop.ts';
import { progressOf } from '../../../reconciler/etcd/progress.ts';
import { act, settled, wait } from '../../../reconciler/etcd/steps.ts';
import { learner, observed, vacant } from './observed.ts';

const set = (available: number): StatefulSetObject => ({
  apiVersion: StatefulSet.apiVersion,
  kind: StatefulSet.kind,
  metadata: { name: 'c1-etcd', generation: 1 },
  spec: { replicas: 3 },
  status: { observedGeneration: 1, replicas: 3, availableReplicas: available, updatedReplicas: 3 },
});
const report = (change: Partial<CurrentReport>): CurrentReport => ({
  observation: observed(3),
  decision: settled,
  isCurrent: true,
  ...change,
});
const unanswered = observed(3, {}, { membership: 'unknown' });

const cases: readonly [when: string, available: number, CurrentReport | undefined, expected: string][] = [
  ['everything is settled', 3, report({}), 'done'],
  ['pods do not exist yet', 2, report({}), 'WaitingForMembers: 2 of 3 replicas available'],
  ['the members were not observed', 3, undefined, 'NotObserved: the operator has not queried the members yet'],
  ['no member answers yet', 0, report({ observation: unanswered }), 'WaitingForMembers: 0 of 3 replicas available'],
  [
    'no member answers, although all pods are ready',
    3,
    report({
      observation: observed(3, { 0: vacant, 1: vacant, 2: vacant }, { membership: 'unknown' }),
      decision: wait('no etcd member answers'),
    }),
    'WaitingForMembers: no etcd member answers',
  ],
  [
    'the goal has changed since',
    3,
    report({ isCurrent: false }),
    'WaitingForMembers: the operator is processing the latest change',
  ],
  ['a volume is being marked', 3, report({ decision: act({ kind: 'markVolume', member: 'e-0', id: '1' }) }), 'done'],
  [
    'a volume cannot be marked',
    3,
    report({ decision: act({ kind: 'markVolume', member: 'e-0', id: '1' }), problem: 'refused' }),
    'WaitingForMembers: the volume of e-0 is marked, which failed: refused',
  ],
  [
    'a member is added',
    3,
    report({ decision: act({ kind: 'addLearner', member: 'e-1', peerUrl: 'x' }) }),
    'ChangingMembers: e-1 joins the etcd cluster',
  ],
  [
    'a member catches up',
    3,
    report({ observation: observed(3, { 2: learner(2) }), decision: wait('e-2 is joining') }),
    'ChangingMembers: e-2 is joining',
  ],
  [
    'a pod is replaced',
    3,
    report({ decision: act({ kind: 'replacePod', member: 'e-1', podUid: 'x' }) }),
    'RollingOut: the pod of e-1 is replaced',
  ],
  [
    'the operator waits for something',
    3,
    report({ decision: wait('etcd has no quorum') }),
    'WaitingForMembers: etcd has no quorum',
  ],
];

it.each(cases)('the progress is correct when %s', (_, available, seen, expected) => {
  const progress = progressOf(set(available), seen);
  expect(progress.isDone ? 'done' : `${progress.reason}: ${progress.message}`).toBe(expected);
});
