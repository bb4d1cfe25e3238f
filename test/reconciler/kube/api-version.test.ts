import { expect, it } from 'vitest';
import { compareApiVersions } from '../../../reconciler/clusters/exposure/infrastructure-endpoint.ts';

it('prefers versions as Kubernetes does', () => {
  const best = ['v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta1', 'v12alpha1', 'v11alpha2', 'foo1', 'foo10'];
  expect([...best].reverse().sort(compareApiVersions)).toEqual(best);
  expect([...best].sort(compareApiVersions)).toEqual(best);
});
