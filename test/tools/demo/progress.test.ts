import { expect, test } from 'vitest';
import { conditions, conditionTypes } from '../../../constructs/api/conditions.ts';
import type { Condition } from '../../../constructs/api/status.ts';
import { stepsBetween } from './progress.ts';

const condition = (type: string, status: 'True' | 'False', message = ''): Condition => ({
  type,
  status,
  message,
  reason: status === 'True' ? 'Done' : 'Waiting',
  lastTransitionTime: '2026-11-21T12:00:00Z',
});

test('a condition that becomes True is reported once, by its meaning', () => {
  const after = [condition('CACertificatesReady', 'True')];
  expect(stepsBetween([], after)).toEqual([{ isDone: true, text: 'all CAs and service account keys exist' }]);
  expect(stepsBetween(after, after)).toEqual([]);
});

test('what the spec does not ask for is no step', () => {
  expect(stepsBetween([], [{ ...condition('EtcdBackupReady', 'True'), reason: 'NotRequested' }])).toEqual([]);
});

test('a reason that several conditions share is reported once, and again only when it changes', () => {
  const waiting = ['ControllerManagerReady', 'SchedulerReady'].map((type) =>
    condition(type, 'False', 'no API server yet'),
  );
  expect(stepsBetween([], waiting)).toEqual([{ isDone: false, text: 'waiting: no API server yet' }]);
  expect(stepsBetween(waiting, waiting)).toEqual([]);
});

test('of all conditions, ten are steps, and summaries are left out', () => {
  const all = conditionTypes.map((type) => condition(type, 'True'));
  const steps = stepsBetween([], all);
  expect(steps).toHaveLength(10);
  expect(steps.at(-1)?.text).toBe(conditions.WorkloadSetupReady.meaning);
  expect(stepsBetween([], [condition('Ready', 'False', 'etcd: 0 of 3'), condition('Available', 'False')])).toEqual([]);
});
