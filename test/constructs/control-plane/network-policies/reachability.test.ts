import { describe, expect, it } from 'vitest';
import { type Ends, Enforcement } from '../../../support/network-policy-evaluator.ts';
import { deniedParties, reachability } from '../../../support/reachability.ts';
import {
  behindTunnel,
  components,
  expected,
  policyKinds,
  rendered,
  exposureStrategies,
} from './expected-reachability.ts';

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

describe('disabled policies', () => {
  const { policies, parties } = rendered('Disabled', behindTunnel);
  const reached = (ends: Ends) => {
    const pairs = [...reachability(new Enforcement(policies), ends, parties)].map(([pair]) => pair.split(' → '));
    return (from: string) => pairs.filter(([one]) => one === from).map(([, to]) => to);
  };

  it.each(components)('let the %s connect to everything but what the platform denies to all', (component) => {
    const others = Object.keys(parties).filter((name) => !deniedParties.includes(name));
    expect(reached('egress')(component)).toEqual(others);
  });

  it('restrict no connection to the control plane', () => {
    expect(reached('ingress')('pod elsewhere')).toEqual(Object.keys(parties));
  });
});
