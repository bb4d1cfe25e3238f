import { expect, it } from 'vitest';
import {
  Cluster,
  CustomResourceDefinition,
  HostedControlPlane,
  type Resource,
} from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { orderedCluster } from '../../support/loop/scenario.ts';
import { ourName, type MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { loadBalancerAddress } from '../../support/management-controllers.ts';
import { clusterName, namespace } from '../../support/scope.ts';

const user = { fieldManager: 'user' };
const group = 'infrastructure.cluster.x-k8s.io';
const ProxyCluster: Resource = {
  apiVersion: `${group}/v1beta2`,
  kind: 'ProxyCluster',
  plural: 'proxyclusters',
  namespaced: true,
};
const name = { namespace, name: clusterName };

/** Installs an infrastructure provider whose objects wait for an endpoint that another controller sets. */
async function installProvider({ user: client }: MemoryCluster): Promise<void> {
  const { apiVersion, kind } = CustomResourceDefinition;
  const schema = { openAPIV3Schema: { properties: { spec: { properties: { controlPlaneEndpoint: {} } } } } };
  const labels = { 'cluster.x-k8s.io/v1beta2': 'v1beta2' };
  const names = { kind: ProxyCluster.kind, plural: ProxyCluster.plural };
  const spec = { group, names, versions: [{ name: 'v1beta2', served: true, storage: true, schema }] };
  await client.create({ apiVersion, kind, metadata: { name: `${ProxyCluster.plural}.${group}`, labels }, spec }, user);
}

async function makeInfrastructure({ user: client }: MemoryCluster): Promise<void> {
  const { apiVersion, kind } = ProxyCluster;
  const object = { apiVersion, kind, metadata: name, spec: {} };
  await client.apply(object, { ...user, resource: ProxyCluster });
}

async function endpointOf({ user: client }: MemoryCluster): Promise<unknown> {
  const object = await client.get<KubeObject & { spec?: { controlPlaneEndpoint?: unknown } }>(ProxyCluster, name);
  return object.spec?.controlPlaneEndpoint;
}

it('the operator forgets a deleted control plane, so that the infrastructure of a new one with its name gets an endpoint', async () => {
  const management = await orderedCluster();
  await installProvider(management);
  await makeInfrastructure(management);
  const infrastructureRef = { apiGroup: group, kind: ProxyCluster.kind, name: clusterName };
  await management.user.mergePatch(Cluster, name, { spec: { infrastructureRef } }, user);
  const operator = await OperatorProcess.start(management);
  await operator.untilSettled();
  const endpoint = { host: loadBalancerAddress, port: 6443 };
  expect(await endpointOf(management)).toEqual(endpoint);

  await management.user.delete(HostedControlPlane, ourName);
  await operator.untilSettled();
  await management.user.delete(ProxyCluster, name);
  await makeInfrastructure(management);
  await management.orderControlPlane(await management.user.get(Cluster, name));
  await operator.untilSettled();

  expect(operator.errors).toEqual([]);
  expect(management.conditions.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'True' });
  expect(await endpointOf(management)).toEqual(endpoint);
  await operator.stop();
});
