import { expect, test } from 'vitest';
import { Cluster, Gateway, Service, TLSRoute, versionOf } from '../../../constructs/api/resources.ts';
import { installDefinition } from '../../support/definitions.ts';
import { operatedNamespace } from '../../support/operated-namespace.ts';
import { plainApiServer } from '../../support/plain-api-server.ts';
import { single } from '../../support/workbench.ts';

/** What is wrong before anything may be created: it takes an API server, and no pods. Owners are set as Cluster API would. */
const namespace = 'before-creation';
const fieldManager = 'somebody-else';
const server = plainApiServer();
const bench = operatedNamespace(namespace, {
  kubeconfig: () => server.kubeconfig,
  prepare: async (client) => {
    for (const resource of [Cluster, Gateway, TLSRoute])
      await installDefinition(client, resource, { served: [versionOf(resource)] });
  },
});

const named = (name: string) => ({ namespace, name });

test('a HostedControlPlane without a Cluster reports a remedy, and nothing is created for it', async () => {
  await bench.createHostedControlPlane('lonely-cp', single);
  const { message } = await bench.untilCondition('lonely', 'Ready', { status: 'False', reason: 'WaitingForCluster' });
  expect(message).toContain('create a Cluster whose spec.controlPlaneRef names HostedControlPlane lonely-cp');
  expect(await bench.client.find(Service, named('s-lonely'))).toBeUndefined();
  expect((await bench.get('lonely')).metadata.finalizers ?? []).toEqual([]);
});

test('a paused Cluster is not reconciled until it is resumed', async () => {
  await bench.create('sleepy', single, { paused: true });
  await bench.nameOwner('sleepy');
  const { message } = await bench.untilCondition('sleepy', 'Paused', { status: 'True' });
  expect(message).toContain('spec.paused');
  expect(await bench.client.find(Service, named('s-sleepy'))).toBeUndefined();

  await bench.client.mergePatch(Cluster, named('sleepy'), { spec: { paused: false } }, { fieldManager });
  await bench.untilCondition('sleepy', 'Paused', { status: 'False' });
});

test('a missing Gateway is reported in a condition that names it', async () => {
  const { exposure: _, ...spec } = single;
  await bench.create('gateway', { ...spec, gateway: { namespace: 'nowhere', name: 'capi' } });
  await bench.nameOwner('gateway');
  const { message } = await bench.untilCondition('gateway', 'SyncControlPlaneEndpointReady', {
    reason: 'GatewayNotFound',
  });
  expect(message).toMatch(/^Gateway nowhere\/capi does not exist: create it/);
});

test('an unsupported version is refused at once', async () => {
  const created = bench.createHostedControlPlane('old-cp', { ...single, version: 'v1.20.0' });
  await expect(created).rejects.toThrow('this release does not support Kubernetes v1.20.0: use 1.32 to 1.37');
});

test('a spec that only the operator can refuse is reported in a condition', async () => {
  const backup = { schedule: '@daily', secret: { name: 's3' }, timeZone: 'Mars/Olympus' };
  await bench.create('lost', { ...single, etcd: { ...single.etcd, backup } });
  await bench.nameOwner('lost');
  const { message } = await bench.untilCondition('lost', 'SpecAccepted', { reason: 'InvalidConfiguration' });
  expect(message).toContain('must be an IANA time zone');
});

test('a node port in use is reported in a condition that names it, until it is free', async () => {
  // Below 30086, where Kubernetes allocates no port until all others are in use.
  const nodePort = { address: '192.0.2.1', port: 30055, konnectivityPort: 30056 };
  await bench.client.create(
    {
      apiVersion: Service.apiVersion,
      kind: Service.kind,
      metadata: named('squatter'),
      spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 30055, protocol: 'TCP' }] },
    },
    { fieldManager },
  );
  await bench.create('crowded', { ...single, exposure: { nodePort } });
  await bench.nameOwner('crowded');
  const { message } = await bench.untilCondition('crowded', 'APIServerServiceReady', { reason: 'NodePortTaken' });
  expect(message).toContain('30055');

  await bench.client.delete(Service, named('squatter'));
  await bench.patch('crowded', { spec: { replicas: 2 } });
  await bench.untilCondition('crowded', 'APIServerServiceReady', { status: 'True' });
});
