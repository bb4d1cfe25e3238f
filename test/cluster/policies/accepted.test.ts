import { beforeAll, expect, test } from 'vitest';
import { Namespace } from '../../../constructs/api/resources.ts';
import { type RenderedObject, renderControlPlane } from '../../../constructs/control-plane/chart.ts';
import type { HostedCluster } from '../../../constructs/cluster/cluster.ts';
import { podComponents } from '../../../constructs/control-plane/network-policies/flows.ts';
import type { Facts } from '../../../constructs/cluster/facts.ts';
import { plainApiServer } from '../../support/plain-api-server.ts';
import { renderSamples } from '../../support/rendered-objects.ts';
import { applyObjects } from '../../testbed/apply-objects.ts';
import { cilium } from '../../testbed/module-manifests.ts';
import { manifestObjects } from '../../testbed/rendered-objects.ts';

const samples = await renderSamples();
const kinds = ['NetworkPolicy', 'CiliumNetworkPolicy'] as const;
const apply = { fieldManager: 'test', force: true };

const { client } = plainApiServer();
beforeAll(async () => {
  const { apiVersion, kind } = Namespace;
  for (const name of new Set(samples.map(({ cluster }) => cluster.namespace))) {
    await client.apply({ apiVersion, kind, metadata: { name } }, apply);
  }
  await applyObjects(client, await manifestObjects(cilium));
});

function policiesOf(cluster: HostedCluster, facts: Facts, networkPolicy: (typeof kinds)[number]): RenderedObject[] {
  return renderControlPlane({ ...cluster, spec: { ...cluster.spec, networkPolicy } }, facts, 'network-policies');
}

test.each(kinds)(
  'the API server accepts a %s of every sample unchanged, and changes nothing the next time',
  async (kind) => {
    for (const { cluster, facts } of samples) {
      const policies = policiesOf(cluster, facts, kind);
      expect(policies).toHaveLength(podComponents.length);
      for (const policy of policies) {
        const first = await client.apply(policy, apply);
        expect((await client.apply(policy, apply)).metadata.resourceVersion).toBe(first.metadata.resourceVersion);
      }
    }
  },
);

test.each(kinds)('the API server refuses a %s with an unknown field', async (kind) => {
  const { cluster, facts } = samples[0]!;
  const [policy] = policiesOf(cluster, facts, kind);
  const misspelt = { ...policy!, spec: { ...(policy!['spec'] as object), ingresses: [] } };
  await expect(client.apply(misspelt, apply)).rejects.toThrow('ingresses');
});

test('the API server refuses entities that Cilium does not define', async () => {
  const { cluster, facts } = samples[0]!;
  const [policy] = policiesOf(cluster, facts, 'CiliumNetworkPolicy');
  const spec = { ...(policy!['spec'] as object), ingress: [{ fromEntities: ['everybody'] }] };
  await expect(client.apply({ ...policy!, spec }, apply)).rejects.toThrow('everybody');
});
