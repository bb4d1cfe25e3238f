import { describe, expect, it } from 'vitest';
import { conditions, conditionTypes, isConditionType, sharedReasons } from '../../../constructs/api/conditions.ts';

const reasons = [...Object.values(conditions).flatMap(({ reasons }) => [...reasons]), ...sharedReasons];

describe('conditions', () => {
  it('have types and reasons in the format that Kubernetes requires', () => {
    const shape = /^[A-Z][A-Za-z0-9]*$/;
    expect([...conditionTypes, ...reasons].filter((name) => !shape.test(name))).toEqual([]);
  });

  it('contain those that Cluster API copies to the Cluster', () => {
    expect(conditionTypes).toEqual(
      expect.arrayContaining(['Available', 'RollingOut', 'ScalingUp', 'ScalingDown', 'Paused', 'Deleting']),
    );
  });

  it('do not use types of other controllers', () => {
    expect(isConditionType('Ready')).toBe(true);
    expect(isConditionType('Cordoned')).toBe(false);
    expect(isConditionType('toString')).toBe(false);
  });
});
