import { describe, expect, it } from 'vitest';
import { CiliumNetworkPolicy, NetworkPolicy } from '../../../constructs/api/resources.ts';
import { networkPolicies } from '../../../reconciler/phases/network-policies.ts';
import { MemoryObjects, type StoredObject } from '../../support/memory-objects.ts';
import { type ScopeChanges, scopeOf } from '../../support/scope.ts';

const components = [
  'api-server',
  'controller-manager',
  'scheduler',
  'etcd',
  'etcd-restore',
  'etcd-verify',
  'api-server-check',
];
const withCilium: ScopeChanges = {
  sharedResources: { servedVersions: (kind) => (kind === 'CiliumNetworkPolicy' ? ['v2'] : []) },
};

it('needs no fact but the spec', () => {
  expect(networkPolicies.needs).toEqual([]);
});

describe('the policies of a control plane', () => {
  it.each<[string, ScopeChanges, string]>([
    ["are Kubernetes' if Cilium is not served", {}, 'NetworkPolicy'],
    ["are Cilium's if it is served", withCilium, 'CiliumNetworkPolicy'],
    [
      "are Kubernetes' if the spec requests them",
      { ...withCilium, spec: { networkPolicy: 'NetworkPolicy' } },
      'NetworkPolicy',
    ],
    [
      "are Cilium's if the spec requests them",
      { ...withCilium, spec: { networkPolicy: 'CiliumNetworkPolicy' } },
      'CiliumNetworkPolicy',
    ],
  ])('%s', async (_, changes, kind) => {
    const management = new MemoryObjects();
    expect(await networkPolicies.run(scopeOf(management, changes))).toMatchObject({
      kind: 'done',
      facts: { ciliumServed: changes === withCilium || changes.sharedResources !== undefined },
    });
    expect(management.writes).toEqual(components.map((name) => `apply ${kind} c1-${name}`));
  });

  it.each(['Auto', 'Disabled'])(
    'with networkPolicy %s deny the API servers of the management cluster, and what the platform denies to all',
    async (networkPolicy) => {
      const management = new MemoryObjects();
      const facts = { managementNetwork: { denied: ['198.51.100.0/24'] } };
      const sharedResources = { deniedNetworks: () => ['192.0.2.7/32', '2001:db8::7/128', '198.51.100.9/32'] };
      await networkPolicies.run(scopeOf(management, { spec: { networkPolicy }, facts, sharedResources }));
      const text = JSON.stringify(management.get<StoredObject>(NetworkPolicy, 'c1-api-server')?.['spec']);
      expect(text).toContain('"except":["169.254.0.0/16","192.0.2.7/32","198.51.100.0/24"]');
      expect(text).toContain('"except":["2001:db8::7/128","fe80::/10"]');
    },
  );

  it("are not applied as Cilium's if it is not served", async () => {
    const management = new MemoryObjects();
    const run = networkPolicies.run(scopeOf(management, { spec: { networkPolicy: 'CiliumNetworkPolicy' } }));
    await expect(run).rejects.toMatchObject({
      name: 'InvalidConfiguration',
      reason: 'CiliumNotInstalled',
      message:
        'networkPolicy is CiliumNetworkPolicy, but the management cluster does not serve cilium.io/v2: install Cilium, or set networkPolicy to NetworkPolicy or Auto',
    });
    expect(management.writes).toEqual([]);
  });
});

describe("Cilium's status of a policy", () => {
  /** The outcome after Cilium has put this condition on etcd's policy. */
  async function outcomeWith(condition: object) {
    const management = new MemoryObjects();
    await networkPolicies.run(scopeOf(management, withCilium));
    const policy = management.get<StoredObject>(CiliumNetworkPolicy, 'c1-etcd');
    if (!policy) throw new Error('etcd has no policy');
    management.put({ ...policy, status: { conditions: [condition] } });
    return networkPolicies.run(scopeOf(management, withCilium));
  }

  it('is reported if it is invalid', async () => {
    expect(await outcomeWith({ type: 'Valid', status: 'False', message: 'rule 0: invalid port' })).toMatchObject({
      kind: 'wait',
      reason: 'PolicyInvalid',
      message:
        'Cilium does not accept CiliumNetworkPolicy c1-etcd: rule 0: invalid port; set networkPolicy to NetworkPolicy until Cilium accepts it',
    });
  });

  it.each([
    ['valid', { type: 'Valid', status: 'True', message: 'Policy validation succeeded' }],
    ['not known yet', { type: 'Enforced', status: 'False' }],
  ])('does not matter if it is %s', async (_, condition) => {
    expect(await outcomeWith(condition)).toMatchObject({ kind: 'done' });
  });
});
