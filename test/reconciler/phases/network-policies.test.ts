import { describe, expect, it } from 'vitest';
import { CiliumNetworkPolicy } from '../../../constructs/api/resources.ts';
import { networkPolicies } from '../../../reconciler/phases/network-policies.ts';
import { MemoryObjects, type StoredObject } from '../../support/memory-objects.ts';
import { type ScopeChanges, scopeOf } from '../../support/scope.ts';

const components = ['api-server', 'controller-manager', 'scheduler', 'etcd', 'etcd-restore', 'etcd-verify'];
const withCilium: ScopeChanges = {
  sharedResources: { servedVersions: (kind) => (kind === 'CiliumNetworkPolicy' ? ['v2'] : []) },
};

it('is done before anything is known but the spec', () => {
  expect(networkPolicies.needs).toEqual([]);
});

describe('the policies of a control plane', () => {
  it.each<[string, ScopeChanges, string]>([
    ["are Kubernetes' where Cilium is not served", {}, 'NetworkPolicy'],
    ["are Cilium's where it is served", withCilium, 'CiliumNetworkPolicy'],
    ["are Kubernetes' if so wanted", { ...withCilium, spec: { networkPolicy: 'NetworkPolicy' } }, 'NetworkPolicy'],
    [
      "are Cilium's if so wanted",
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

  it('are none where they are disabled', async () => {
    const management = new MemoryObjects();
    expect(await networkPolicies.run(scopeOf(management, { spec: { networkPolicy: 'Disabled' } }))).toMatchObject({
      kind: 'done',
    });
    expect(management.writes).toEqual([]);
  });

  it("are not applied as Cilium's where it is not served", async () => {
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

describe('what Cilium says of a policy', () => {
  /** The outcome after Cilium has put this condition on etcd's policy. */
  async function outcomeWith(condition: object) {
    const management = new MemoryObjects();
    await networkPolicies.run(scopeOf(management, withCilium));
    const policy = management.get<StoredObject>(CiliumNetworkPolicy, 'c1-etcd');
    if (!policy) throw new Error('etcd has no policy');
    management.put({ ...policy, status: { conditions: [condition] } });
    return networkPolicies.run(scopeOf(management, withCilium));
  }

  it('is told when it does not accept it', async () => {
    expect(await outcomeWith({ type: 'Valid', status: 'False', message: 'rule 0: invalid port' })).toMatchObject({
      kind: 'wait',
      reason: 'PolicyInvalid',
      message:
        'Cilium does not accept CiliumNetworkPolicy c1-etcd: rule 0: invalid port; set networkPolicy to NetworkPolicy until Cilium accepts it',
    });
  });

  it.each([
    ['that it is valid', { type: 'Valid', status: 'True', message: 'Policy validation succeeded' }],
    ['nothing of its validity yet', { type: 'Enforced', status: 'False' }],
  ])('does not matter when it is %s', async (_, condition) => {
    expect(await outcomeWith(condition)).toMatchObject({ kind: 'done' });
  });
});
