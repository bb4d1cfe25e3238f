import { describe, expect, it } from 'vitest';
import { type Ends, Enforcement } from '../../../support/network-policy-evaluator.ts';
import { reachability } from '../../../support/reachability.ts';
import { components, expected, policyKinds, rendered, exposureStrategies } from './expected-reachability.ts';

const ends: readonly Ends[] = ['egress', 'ingress', 'both'];

describe.each(policyKinds)('%s', (kind) => {
  describe.each(exposureStrategies)('behind $name', (exposureStrategy) => {
    const { policies, parties } = rendered(kind, exposureStrategy);

    it('restricts each component by a policy of its own', () => {
      expect(policies.map((policy) => policy.kind)).toEqual(components.map(() => kind));
    });

    it.each(ends)('allows exactly the necessary connections, as decided by the end of: %s', (end) => {
      const actual = new Map(reachability(new Enforcement(policies), end, parties));
      expect(actual).toEqual(expected(kind, exposureStrategy, end));
    });
  });
});
