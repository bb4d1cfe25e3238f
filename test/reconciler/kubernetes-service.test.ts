import { beforeAll, expect, it } from 'vitest';
import { ConfigMap, Deployment, EndpointSlice, Service } from '../../constructs/api/resources.ts';
import { fieldManager } from '../../constructs/api/group.ts';
import { managedByLabel } from '../../constructs/cluster/labels.ts';
import { MemoryClient } from '../support/memory-cluster/client.ts';
import type { MemoryCluster } from '../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../support/loop/operator-process.ts';
import { completeCluster, expectNoWrites, settleBy } from '../support/loop/scenario.ts';

const inDefault = (name: string) => ({ namespace: 'default', name });
const proxies = inDefault('hosted-control-plane-service-proxy');

/** A hosted cluster whose API servers advertise their address, with slices as they and the controller write them. */
let advertising: MemoryCluster;
beforeAll(async () => {
  advertising = await completeCluster();
  await putSlice(advertising, 'kubernetes', {});
});

async function putSlice(management: MemoryCluster, name: string, labels: object): Promise<void> {
  const { apiVersion, kind } = EndpointSlice;
  const metadata = { ...inDefault(name), labels: { 'kubernetes.io/service-name': 'kubernetes', ...labels } };
  await new MemoryClient(management.hosted).create({ apiVersion, kind, metadata }, { fieldManager: 'controller' });
}

async function slicesIn({ hosted }: MemoryCluster): Promise<string[]> {
  const slices = await new MemoryClient(hosted).list(EndpointSlice, { namespace: 'default' });
  return slices.items.map(({ metadata }) => metadata.name);
}

it('the slice of API servers that advertise an address stays', async () => {
  const management = advertising.copy();
  await settleBy(management);
  expect(await slicesIn(management)).toEqual(['kubernetes']);
});

it('a change from LoadBalancer to Policy leaves no stale slice, and back neither', async () => {
  const management = advertising.copy();
  await management.change({ inClusterAccess: 'Policy' });
  const operator = await OperatorProcess.start(management);
  await operator.untilSettled();
  expect(await slicesIn(management)).toEqual([]);
  const hosted = new MemoryClient(management.hosted);
  expect(await hosted.find(Service, inDefault('kubernetes'))).toMatchObject({
    spec: { selector: { 'app.kubernetes.io/name': proxies.name } },
  });
  expect(await hosted.find(Deployment, proxies)).toBeDefined();

  await putSlice(management, 'kubernetes-x7k2p', { [managedByLabel]: fieldManager });
  await expectNoWrites(management, operator);
  expect(await slicesIn(management)).toEqual(['kubernetes-x7k2p']);

  await management.change({ inClusterAccess: 'LoadBalancer' });
  await operator.untilSettled();
  await operator.stop();
  expect(await slicesIn(management)).toEqual([]);
  expect(await hosted.find(Deployment, proxies)).toBeUndefined();
  expect(await hosted.find(ConfigMap, proxies)).toBeUndefined();
});
