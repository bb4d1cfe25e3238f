import type { NodeObject, ServiceCIDRObject } from '../../../imports/kubernetes.ts';
import { beforeAll, expect, test } from 'vitest';
import { NetworkPolicy, Node, Service, ServiceCIDR } from '../../../constructs/api/resources.ts';
import { isWithin } from '../../../constructs/cluster/cidr.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { operatedNamespace } from '../../support/operated-namespace.ts';
import { until } from '../../support/until.ts';
import { single } from '../../support/workbench.ts';

const namespace = 'platform-lists';
const bench = operatedNamespace(namespace);
const allowed = 'service.beta.kubernetes.io/aws-load-balancer-scheme';
const refused = 'metallb.universe.tf/allow-shared-ip';

beforeAll(async () => {
  const annotations = { [allowed]: 'internal', [refused]: 'everybody' };
  await bench.create('c1', { ...single, exposure: { loadBalancer: { annotations } }, networkPolicy: 'NetworkPolicy' });
});

test('an annotation that the platform does not allow is not applied, and a condition names it and the setting', async () => {
  await bench.untilCondition('c1', 'SpecSupported', { reason: 'Overruled' });
  const { status } = await bench.get('c1');
  const message = status?.conditions?.find(({ type }) => type === 'SpecSupported')?.message ?? '';
  expect(message).toContain(refused);
  expect(message).toContain('LOAD_BALANCER_ANNOTATIONS');
  expect(message).not.toContain('everybody');
  const service = await bench.client.get(Service, { namespace, name: 's-c1' });
  expect(service.metadata.annotations?.[allowed]).toBe('internal');
  expect(service.metadata.annotations).not.toHaveProperty(refused);
});

test('API servers may not connect to the Services, nodes and pods of the management cluster', async () => {
  const policy = await until('the policy of API servers', () =>
    bench.client.find<KubeObject & { readonly spec: unknown }>(NetworkPolicy, { namespace, name: 'c1-api-server' }),
  );
  const except = [...JSON.stringify(policy.spec).matchAll(/"except":(\[[^\]]*\])/g)].flatMap(
    ([, list = '[]']) => JSON.parse(list) as string[],
  );
  const nodes = (await bench.client.list<NodeObject>(Node)).items;
  const services = (await bench.client.list<ServiceCIDRObject>(ServiceCIDR)).items;
  const addresses = [
    ...nodes
      .flatMap(({ status }) => status?.addresses ?? [])
      .flatMap(({ type, address }) => (type?.endsWith('IP') && address !== undefined ? [address] : [])),
    ...[...nodes.map(({ spec }) => spec?.podCIDR), ...services.flatMap(({ spec }) => spec?.cidrs ?? [])].flatMap(
      (cidr) => cidr?.split('/')[0] ?? [],
    ),
  ];
  expect(addresses.length).toBeGreaterThan(1);
  expect(addresses.filter((address) => !except.some((network) => isWithin(address, network)))).toEqual([]);
});
