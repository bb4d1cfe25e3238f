import { expect, test } from 'vitest';
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
  const waiting = ['WorkloadKubeProxyReady', 'WorkloadCoreDNSReady'].map((type) =>
    condition(type, 'False', 'no nodes yet'),
  );
  expect(stepsBetween([], waiting)).toEqual([{ isDone: false, text: 'waiting: no nodes yet' }]);
  expect(stepsBetween(waiting, waiting)).toEqual([]);
});

test('summaries of other conditions are left out', () => {
  expect(stepsBetween([], [condition('Ready', 'False', 'etcd: 0 of 3'), condition('Available', 'False')])).toEqual([]);
});
