import { describe, expect, it } from 'vitest';
import {
  conditionsEqual,
  mergeConditions,
  setCondition,
  type Condition,
  type ConditionDraft,
} from '../../../reconciler/kube/conditions.ts';

const before = '2026-01-01T00:00:00Z';
const now = new Date('2026-01-02T03:04:05.678Z');

const condition = (type: string, status: Condition['status'], message = ''): Condition => ({
  type,
  status,
  reason: 'Because',
  message,
  lastTransitionTime: before,
});
const draft = (type: string, status: Condition['status'], message = ''): ConditionDraft => ({
  type,
  status,
  reason: 'Because',
  message,
});

describe('mergeConditions', () => {
  it('keeps the transition time while the status stays, whatever else changes', () => {
    expect(mergeConditions([condition('Ready', 'False')], [draft('Ready', 'False', 'still')], now)).toEqual([
      { ...condition('Ready', 'False', 'still'), lastTransitionTime: before },
    ]);
  });

  it('moves the transition time, in whole seconds, when the status changes', () => {
    const [merged] = mergeConditions([condition('Ready', 'False')], [draft('Ready', 'True')], now);
    expect(merged?.lastTransitionTime).toBe('2026-01-02T03:04:05Z');
  });

  it('has exactly the decided conditions in their order', () => {
    const previous = [condition('Gone', 'True'), condition('B', 'True'), condition('A', 'True')];
    const merged = mergeConditions(previous, [draft('A', 'True'), draft('B', 'True'), draft('C', 'Unknown')], now);
    expect(merged.map(({ type }) => type)).toEqual(['A', 'B', 'C']);
  });
});

describe('setCondition', () => {
  it('replaces a condition in its place', () => {
    const set = setCondition([condition('A', 'True'), condition('B', 'True')], draft('A', 'False'), now);
    expect(set.map(({ type, status }) => [type, status])).toEqual([
      ['A', 'False'],
      ['B', 'True'],
    ]);
  });

  it('adds a new condition at the end', () => {
    expect(setCondition([condition('A', 'True')], draft('B', 'True'), now).map(({ type }) => type)).toEqual(['A', 'B']);
  });
});

describe('conditionsEqual', () => {
  it.each<[string, Condition[], Condition[], boolean]>([
    ['the same', [condition('A', 'True')], [condition('A', 'True')], true],
    ['another message', [condition('A', 'True')], [condition('A', 'True', 'new')], false],
    ['another generation', [condition('A', 'True')], [{ ...condition('A', 'True'), observedGeneration: 2 }], false],
    ['one more', [condition('A', 'True')], [condition('A', 'True'), condition('B', 'True')], false],
    ['one less', [condition('A', 'True'), condition('B', 'True')], [condition('A', 'True')], false],
  ])('compares lists with %s', (_, a, b, equal) => {
    expect(conditionsEqual(a, b)).toBe(equal);
  });
});
