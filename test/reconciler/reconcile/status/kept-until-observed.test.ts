import { expect, it } from 'vitest';
import type { Condition } from '../../../../constructs/api/status.ts';
import { conditionUpdate } from '../../../../reconciler/engine/condition-update.ts';
import { hostedControlPlaneObject } from '../../../support/scope.ts';
import { keptUntilObserved } from '../../../../reconciler/reconcile/status/observe.ts';

const before = (changes: Partial<Condition> = {}): Condition => ({
  type: 'WorkloadCoreDNSReady',
  status: 'True',
  reason: 'ReconcileSucceeded',
  message: 'x',
  observedGeneration: 1,
  lastTransitionTime: '2026-11-21T12:00:00Z',
  ...changes,
});
const unseen = conditionUpdate('False', 'NotObserved', 'the operator has not listed the Nodes yet');
const seen = conditionUpdate('False', 'WaitingForPods', '0 of 1');

it.each([
  ['stays True', unseen, [before()], conditionUpdate('True', 'ReconcileSucceeded', 'x')],
  [
    'stays without a request',
    unseen,
    [before({ reason: 'NotRequested', message: '' })],
    conditionUpdate('True', 'NotRequested'),
  ],
  ['is not True if it was not', unseen, [before({ status: 'False' })], unseen],
  ['is not True if the spec has changed meanwhile', unseen, [before({ observedGeneration: 0 })], unseen],
  ['is not True if it was never reported', unseen, [before({ type: 'WorkloadKubeProxyReady' })], unseen],
  ['is what was observed', seen, [before()], seen],
])('a condition that was True %s', (_, update, conditions, expected) => {
  const object = { ...hostedControlPlaneObject(), status: { conditions } };
  expect(keptUntilObserved({ WorkloadCoreDNSReady: update }, object)).toEqual({ WorkloadCoreDNSReady: expected });
});
