import { beforeAll, expect, test } from 'vitest';
import { Namespace, Service } from '../../../constructs/api/resources.ts';
import { type RenderedObject, renderControlPlane } from '../../../constructs/control-plane/chart.ts';
import type { HostedCluster } from '../../../constructs/cluster/cluster.ts';
import { podComponents } from '../../../constructs/control-plane/network-policies/flow.ts';
import type { Facts } from '../../../constructs/cluster/facts.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { clusterDns } from '../../../reconciler/operator/connected-operator.ts';
import { plainApiServer } from '../../support/plain-api-server.ts';
import { renderSamples } from '../../support/rendered-objects.ts';
import { applyObjects } from '../../tools/testbed/apply-objects.ts';
import { cilium } from '../../tools/testbed/module-manifests.ts';
import { manifestObjects } from '../../tools/testbed/rendered-objects.ts';

const samples = await renderSamples();
const kinds = ['NetworkPolicy', 'CiliumNetworkPolicy'] as const;
const managementNetwork = {
  denied: ['192.0.2.7/32', '2001:db8::/64'],
  dns: {
    pods: [{ namespace: 'dns', labels: { dns: 'default' }, ports: [{ number: 'dns-tcp', protocol: 'TCP' }] }],
    networks: ['169.254.20.10/32'],
  },
} as const;
const apply = { fieldManager: 'test', force: true };

const { client } = plainApiServer();
beforeAll(async () => {
  const { apiVersion, kind } = Namespace;
  for (const name of new Set(samples.map(({ cluster }) => cluster.namespace))) {
    await client.apply({ apiVersion, kind, metadata: { name } }, apply);
  }
  await applyObjects(client, await manifestObjects(cilium));
});

function policiesOf(
  cluster: HostedCluster,
  facts: Facts,
  networkPolicy: (typeof kinds)[number] | 'Disabled',
): RenderedObject[] {
  const known = { ...facts, managementNetwork };
  return renderControlPlane({ ...cluster, spec: { ...cluster.spec, networkPolicy } }, known, 'network-policies');
}

/** An object without what the server adds to the metadata of each one. */
function asSent({ metadata, ...rest }: KubeObject): object {
  const {
    uid: _,
    resourceVersion: __,
    generation: ___,
    creationTimestamp: ____,
    managedFields: _____,
    ...sent
  } = metadata;
  return { ...rest, metadata: sent };
}

test.each([...kinds, 'Disabled'] as const)(
  'the API server accepts the policies of kind %s of every sample unchanged, and changes nothing the next time',
  async (kind) => {
    for (const { cluster, facts } of samples) {
      const policies = policiesOf(cluster, facts, kind);
      expect(policies).toHaveLength(podComponents.length);
      for (const policy of policies) {
        const first = await client.apply(policy, apply);
        expect(asSent(first)).toEqual(policy);
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

test('the API server finds the Service of the DNS by its address', async () => {
  const { apiVersion, kind } = Service;
  const selector = { 'k8s-app': 'kube-dns' };
  const spec = { selector, ports: [{ name: 'dns', port: 53, protocol: 'UDP', targetPort: 5353 }] };
  const metadata = { namespace: 'kube-system', name: 'kube-dns' };
  const { spec: live } = await client.apply<KubeObject & { spec: object & { clusterIP?: string } }>(
    { apiVersion, kind, metadata, spec },
    apply,
  );
  expect(await clusterDns(client, `nameserver ${live.clusterIP}`)).toEqual({
    pods: [{ namespace: 'kube-system', labels: selector, ports: [{ number: 5353, protocol: 'UDP' }] }],
    networks: [],
  });
});
