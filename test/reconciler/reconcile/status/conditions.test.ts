import { describe, expect, it } from 'vitest';
import type { Condition } from '../../../../constructs/api/status.ts';
import { type ConditionDraft, mergeConditions } from '../../../../reconciler/reconcile/status/writer.ts';

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
