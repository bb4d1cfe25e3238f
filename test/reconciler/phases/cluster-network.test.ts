import { beforeAll, expect, it } from 'vitest';
import { clusterNetworkAnnotation } from '../../../constructs/api/group.ts';
import { Cluster, Deployment, HostedControlPlane, Pod, Secret } from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { type MemoryCluster, ourName } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster, expectNoWrites, orderedCluster, settleBy } from '../../support/loop/scenario.ts';
import type { StoredObject } from '../../support/memory-objects.ts';
import { clusterName, namespace } from '../../support/scope.ts';

const user = { fieldManager: 'user' };
const keys = { namespace, name: namesOf(clusterName).secrets.serviceAccount };
const initial = { serviceDomain: 'cluster.local', services: ['10.96.0.0/12'], pods: ['10.0.0.0/16'] };
const others = {
  pods: { cidrBlocks: ['10.99.0.0/16'] },
  services: { cidrBlocks: ['10.112.0.0/12'] },
  serviceDomain: 'other.local',
};

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeCluster();
});

const askFor = (management: MemoryCluster, clusterNetwork: object | null) =>
  management.user.mergePatch(Cluster, { namespace, name: clusterName }, { spec: { clusterNetwork } }, user);

const conditionIn = ({ conditions }: MemoryCluster, type = 'ClusterNetworkUnchanged') =>
  conditions.find((condition) => condition.type === type);

/** What the status and the record beside the keys say. */
function recordsIn({ hostedControlPlane, objects }: MemoryCluster) {
  const text = objects.get(Secret, keys.name)?.metadata.annotations?.[clusterNetworkAnnotation];
  const { network } = hostedControlPlane['status'] as { network?: object };
  return { status: network, annotation: text && (JSON.parse(text) as object) };
}

/** All that depends on the networks: pods, certificates, and objects in the hosted cluster. */
function renderedIn({ objects, hosted }: MemoryCluster) {
  return {
    deployments: objects.list<StoredObject>(Deployment, {}).map((deployment) => deployment['spec']),
    secrets: objects.list<StoredObject>(Secret, {}).map((secret) => secret['data']),
    hosted: hosted.store.objects.map(({ metadata, ...rest }) => [metadata.name, { ...rest, status: null }]),
  };
}

/** The control plane as a release without records has left it. */
async function withoutRecords(management: MemoryCluster): Promise<MemoryCluster> {
  const status = { ...user, subresource: 'status' };
  await management.user.mergePatch(HostedControlPlane, ourName, { status: { network: null } }, status);
  const annotations = { [clusterNetworkAnnotation]: null };
  await management.user.mergePatch(Secret, keys, { metadata: { annotations } }, user);
  return management;
}

it('the networks are recorded once workers can join, in the status and beside the keys', () => {
  expect(recordsIn(complete)).toEqual({ status: initial, annotation: initial });
  expect(conditionIn(complete)?.status).toBe('True');
});

it.each(Object.entries(others))('another %s of the Cluster changes nothing that runs', async (field, value) => {
  const management = complete.copy();
  const before = renderedIn(management);
  await askFor(management, { [field]: value });
  const operator = await OperatorProcess.start(management);
  await operator.untilSettled();
  expect(renderedIn(management)).toEqual(before);
  expect(conditionIn(management)).toMatchObject({ status: 'False', reason: 'ClusterNetworkChanged' });
  expect(conditionIn(management)?.message).toContain(field);
  expect(conditionIn(management, 'Available')?.status).toBe('True');
  await expectNoWrites(management, operator);

  await askFor(management, null);
  await operator.untilSettled();
  await operator.stop();
  expect(conditionIn(management, 'Ready')?.status).toBe('True');
});

it('the condition names both values, and what to do', async () => {
  const management = complete.copy();
  await askFor(management, others);
  await settleBy(management);
  expect(conditionIn(management)?.message).toBe(
    'spec.clusterNetwork of Cluster c1 has changed: pods is 10.99.0.0/16 instead of 10.0.0.0/16; services is 10.112.0.0/12 instead of 10.96.0.0/12; serviceDomain is other.local instead of cluster.local; the control plane keeps what it was initialized with, because nodes, Services and pods have it, and no network, IP family or domain can be replaced or added later: set the Cluster back, or create another Cluster for other networks',
  );
});

it('networks that no API server accepts are no error of a control plane that runs', async () => {
  const management = complete.copy();
  await askFor(management, { pods: { cidrBlocks: ['10.0.0.0/33'] } });
  const { errors } = await settleBy(management);
  expect(errors).toEqual([]);
  expect(conditionIn(management)?.reason).toBe('ClusterNetworkChanged');
});

it('the networks of a control plane without records are recorded from what runs', async () => {
  const management = await withoutRecords(complete.copy());
  const before = renderedIn(management);
  await askFor(management, others);
  await settleBy(management);
  expect(recordsIn(management)).toEqual({ status: initial, annotation: initial });
  expect(renderedIn(management)).toEqual(before);
});

it('a pod that does not start with other networks is not what runs', async () => {
  const management = await withoutRecords(complete.copy());
  const [pod] = management.objects.list<StoredObject>(Pod, selectorLabels(clusterName, 'controller-manager'));
  if (!pod) throw new Error('no controller manager runs');
  const other = JSON.parse(
    JSON.stringify(pod).replaceAll('--cluster-cidr=10.0.', '--cluster-cidr=10.99.'),
  ) as StoredObject;
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] };
  const metadata = { ...other.metadata, name: 'another', creationTimestamp: '2001-01-01T00:00:00Z' };
  management.objects.put({ ...other, metadata, status });
  await askFor(management, { pods: others.pods });
  const operator = await OperatorProcess.start(management);
  await operator.reconcile();
  await operator.stop();
  expect(recordsIn(management).annotation).toEqual(initial);
});

it.each([
  ['the status is lost, as by a move', { hostedControlPlane: { network: null } }],
  [
    'a person has changed the record beside the keys',
    { annotation: JSON.stringify({ ...initial, pods: ['10.9.0.0/16'] }) },
  ],
  ['a person has removed the record beside the keys', { annotation: null }],
])(
  'the networks stay when %s',
  async (_, { hostedControlPlane, annotation }: { hostedControlPlane?: object; annotation?: string | null }) => {
    const management = complete.copy();
    await askFor(management, others);
    if (hostedControlPlane) {
      const status = { ...user, subresource: 'status' };
      await management.user.mergePatch(HostedControlPlane, ourName, { status: hostedControlPlane }, status);
    } else {
      const annotations = { [clusterNetworkAnnotation]: annotation };
      await management.user.mergePatch(Secret, keys, { metadata: { annotations } }, user);
    }
    await settleBy(management);
    expect(recordsIn(management)).toEqual({ status: initial, annotation: initial });
    expect(conditionIn(management)?.reason).toBe('ClusterNetworkChanged');
  },
);

it('a new HostedControlPlane on retained volumes keeps the networks of its data', async () => {
  const management = complete.copy();
  const retain = { etcd: { replicas: 3, volumeRetention: 'Retain' } };
  await management.change(retain);
  await settleBy(management);
  await management.user.delete(HostedControlPlane, ourName);
  await settleBy(management);
  await management.clock.advance(60_000);
  await askFor(management, others);
  await management.orderControlPlane(await management.user.get(Cluster, { namespace, name: clusterName }), retain);
  await settleBy(management);
  expect(recordsIn(management)).toEqual({ status: initial, annotation: initial });
});

it('a mistake can be corrected until workers can join', async () => {
  const management = await orderedCluster();
  await askFor(management, { pods: { cidrBlocks: ['10.0.0.0/8'] } });
  const operator = await OperatorProcess.start(management);
  await operator.reconcile();
  await askFor(management, others);
  await operator.untilSettled();
  await operator.stop();
  const expected = {
    pods: others.pods.cidrBlocks,
    services: others.services.cidrBlocks,
    serviceDomain: others.serviceDomain,
  };
  expect(recordsIn(management)).toEqual({ status: expected, annotation: expected });
  expect(conditionIn(management, 'Ready')?.status).toBe('True');
});
