import { describe, expect, it } from 'vitest';
import { conditions, conditionTypes, isConditionType, sharedReasons } from '../../../constructs/api/conditions.ts';

const reasons = [...Object.values(conditions).flatMap(({ reasons }) => [...reasons]), ...sharedReasons];

describe('conditions', () => {
  it('have the shape Kubernetes asks of types and reasons', () => {
    const shape = /^[A-Z][A-Za-z0-9]*$/;
    expect([...conditionTypes, ...reasons].filter((name) => !shape.test(name))).toEqual([]);
  });

  it('contain what Cluster API mirrors to the Cluster', () => {
    expect(conditionTypes).toEqual(
      expect.arrayContaining(['Available', 'RollingOut', 'ScalingUp', 'ScalingDown', 'Paused', 'Deleting']),
    );
  });

  it('do not claim conditions of others', () => {
    expect(isConditionType('Ready')).toBe(true);
    expect(isConditionType('Cordoned')).toBe(false);
    expect(isConditionType('toString')).toBe(false);
  });
});
