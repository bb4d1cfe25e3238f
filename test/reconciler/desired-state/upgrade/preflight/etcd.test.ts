import { describe, expect, it } from 'vitest';
import { etcdProblem } from '../../../../../reconciler/desired-state/upgrade/preflight/observe-preflight.ts';
import { conditionOf } from './conditions.ts';

const health = (status: 'True' | 'False' | 'Unknown', message = '') => ({
  conditions: [conditionOf('EtcdClusterHealthy', status, message)],
});

describe('etcd before an upgrade', () => {
  it('is no problem while it is healthy', () => {
    expect(etcdProblem(health('True'))).toBeUndefined();
  });

  it('is a problem in its own words while it is not', () => {
    expect(etcdProblem(health('False', 'one member is lost'))).toBe('one member is lost');
  });

  it.each([80, 100])('is a problem from 80 % of its quota on: %i', (quotaPercent) => {
    expect(etcdProblem({ ...health('True'), etcd: { quotaPercent } })).toMatch(
      new RegExp(`fills ${quotaPercent} % of its quota: delete objects`),
    );
  });

  it('is none below that', () => {
    expect(etcdProblem({ ...health('True'), etcd: { quotaPercent: 75 } })).toBeUndefined();
  });

  it.each([
    ['that has no status', undefined],
    ['whose status has other conditions only', { conditions: [conditionOf('Ready', 'True')] }],
    ['whose health is unknown', health('Unknown', 'etcd has not been created yet')],
  ])('of a control plane %s is not taken for healthy', (_, status) => {
    expect(etcdProblem(status)).toMatch(/^the operator has not observed its health yet: wait until/);
  });
});
