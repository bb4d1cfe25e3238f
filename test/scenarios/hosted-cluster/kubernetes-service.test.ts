import { beforeAll, describe, expect, it } from 'vitest';
import {
  ConfigMap,
  Deployment,
  Endpoints,
  EndpointSlice,
  Service,
  TLSRoute,
} from '../../../constructs/api/resources.ts';
import { fieldManager } from '../../../constructs/api/group.ts';
import { managedByLabel } from '../../../constructs/cluster/labels.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { MemoryClient } from '../../support/memory-cluster/client.ts';
import { administrator } from '../../support/memory-cluster/users.ts';
import { gateway, orderedBehindGateway } from '../../support/loop/behind-gateway.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster, expectNoWrites } from '../../support/loop/scenario.ts';
import type { StoredObject } from '../../support/memory-objects.ts';
import { namespace } from '../../support/scope.ts';

const condition = 'WorkloadKubernetesServiceReady';
const inDefault = (name: string) => ({ namespace: 'default', name });
const proxies = inDefault('hosted-control-plane-service-proxy');

/** A hosted cluster whose Service leads to a load balancer. */
let balanced: MemoryCluster;
beforeAll(async () => {
  balanced = await completeCluster();
});

/** A slice as the controller writes it for the proxies that the Service selects. */
async function putSliceOfProxies({ hosted }: MemoryCluster, name: string): Promise<void> {
  const { apiVersion, kind } = EndpointSlice;
  const labels = {
    'kubernetes.io/service-name': 'kubernetes',
    'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
    [managedByLabel]: fieldManager,
  };
  const metadata = { ...inDefault(name), labels };
  await new MemoryClient(hosted, administrator('controller')).create(
    { apiVersion, kind, metadata },
    { fieldManager: 'controller' },
  );
}

async function slicesIn({ hosted }: MemoryCluster): Promise<string[]> {
  const slices = await new MemoryClient(hosted, administrator('controller')).list(EndpointSlice, {
    namespace: 'default',
  });
  return slices.items.map(({ metadata }) => metadata.name);
}

it('leads to the load balancer, and again after an API server of an earlier release revision has taken that out', async () => {
  const management = balanced.copy();
  const operator = await OperatorProcess.start(management);
  await operator.untilSettled();
  const hosted = new MemoryClient(management.hosted, administrator('controller'));
  const written = async () => [
    await hosted.get(EndpointSlice, inDefault('kubernetes')),
    await hosted.get(Endpoints, inDefault('kubernetes')),
  ];
  const address = { ip: '192.0.2.10' };
  const expected = [
    { endpoints: [{ addresses: [address.ip] }] },
    { subsets: [{ addresses: [address], ports: [{ name: 'https', port: 6443 }] }] },
  ];
  expect(await written()).toMatchObject(expected);

  const byApiServer = { fieldManager: 'kube-apiserver' };
  await hosted.mergePatch(EndpointSlice, inDefault('kubernetes'), { endpoints: [] }, byApiServer);
  await operator.untilObserved();
  expect(operator.hasNews).toBe(true);
  await operator.untilSettled();
  expect(await written()).toMatchObject(expected);
  await hosted.mergePatch(Endpoints, inDefault('kubernetes'), { subsets: null }, byApiServer);
  await operator.untilSettled();
  await operator.stop();
  expect(await written()).toMatchObject(expected);
});

it('a change from LoadBalancer to Policy leaves no stale slice, and back neither', async () => {
  const management = balanced.copy();
  await management.change({ inClusterAccess: 'Policy' });
  const operator = await OperatorProcess.start(management);
  await operator.untilSettled();
  expect(await slicesIn(management)).toEqual([]);
  expect(
    await new MemoryClient(management.hosted, administrator('controller')).find(Endpoints, inDefault('kubernetes')),
  ).toBeUndefined();
  const hosted = new MemoryClient(management.hosted, administrator('controller'));
  expect(await hosted.find(Service, inDefault('kubernetes'))).toMatchObject({
    spec: { selector: { 'app.kubernetes.io/name': proxies.name } },
  });
  expect(await hosted.find(Deployment, proxies)).toBeDefined();

  await putSliceOfProxies(management, 'kubernetes-x7k2p');
  await expectNoWrites(management, operator);
  expect(await slicesIn(management)).toEqual(['kubernetes-x7k2p']);

  await management.change({ inClusterAccess: 'LoadBalancer' });
  await operator.untilSettled();
  await operator.stop();
  expect(await slicesIn(management)).toEqual(['kubernetes']);
  expect(await hosted.find(Deployment, proxies)).toBeUndefined();
  expect(await hosted.find(ConfigMap, proxies)).toBeUndefined();
});

describe('behind an entry that many clusters share', () => {
  const hosts = { apiHost: 'api.example.org', konnectivityHost: 'agents.example.org' };

  /** The control plane behind this entry, settled. */
  async function behind(exposure: object): Promise<[MemoryCluster, OperatorProcess]> {
    const management = await orderedBehindGateway(exposure);
    const operator = await OperatorProcess.start(management);
    await operator.untilSettled();
    return [management, operator];
  }

  const statusOf = ({ conditions }: MemoryCluster, condition: string) => {
    const { status, reason, message } = conditions.find(({ type }) => type === condition) ?? {};
    return { status, reason, message };
  };
  const configOf = async ({ hosted }: MemoryCluster) => {
    const found = await new MemoryClient(hosted, administrator('controller')).find<KubeObject & { data: object }>(
      ConfigMap,
      proxies,
    );
    return found && JSON.stringify(found.data);
  };
  const everythingElse = ['Ready', 'WorkloadCoreDNSReady', 'WorkloadInClusterAccessReady', 'APIServerReachable'];

  it('the tunnel of a Gateway serves the name, and only its own condition tells that its route is refused', async () => {
    const [management, operator] = await behind({ gateway });
    expect(statusOf(management, condition)).toMatchObject({ status: 'True' });
    expect(await configOf(management)).toContain('tunnel.c1.team.example.org:443');

    const route = await management.user.find<StoredObject>(TLSRoute, { namespace, name: 'c1-tunnel' });
    const refusal = { type: 'Accepted', status: 'False', reason: 'NotAllowedByListeners', message: 'not here' };
    const parents = [{ parentRef: { ...gateway, sectionName: 'tls' }, controllerName: 'x', conditions: [refusal] }];
    management.objects.put({ ...route!, status: { parents } });
    await operator.reconcile();
    expect(statusOf(management, condition)).toMatchObject({
      status: 'False',
      reason: 'ServiceNotServed',
      message: expect.stringContaining('refuses TLSRoute c1-tunnel: NotAllowedByListeners') as string,
    });
    for (const other of [...everythingElse, 'APIServerTLSRoutesReady'])
      expect([other, statusOf(management, other).status]).toEqual([other, 'True']);
    await operator.stop();
  });

  it('an Ingress serves the name only at a tunnel host, and without it nothing else waits', async () => {
    const [management, operator] = await behind({ ingress: hosts });
    expect(statusOf(management, condition)).toMatchObject({
      status: 'False',
      reason: 'ServiceNotServed',
      message: expect.stringContaining('exposure.ingress.tunnelHost is not set: set it') as string,
    });
    for (const other of everythingElse) expect([other, statusOf(management, other).status]).toEqual([other, 'True']);
    expect(await configOf(management)).toBeUndefined();

    await management.change({ exposure: { ingress: { ...hosts, tunnelHost: 'pods.example.org' } } });
    await operator.untilSettled();
    expect(statusOf(management, condition)).toMatchObject({ status: 'True' });
    expect(await configOf(management)).toContain('pods.example.org:443');

    await management.change({ exposure: { ingress: { ...hosts, tunnelHost: null } } });
    await operator.untilSettled();
    await operator.stop();
    expect(statusOf(management, condition)).toMatchObject({ status: 'False' });
    expect(await configOf(management)).toBeUndefined();
  });
});
