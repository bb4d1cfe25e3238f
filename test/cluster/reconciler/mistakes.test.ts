import { expect, onTestFinished, test } from 'vitest';
import { Cluster, Deployment, PersistentVolumeClaim, Pod, Secret, Service } from '../../../constructs/api/resources.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { messageOf } from '../../../reconciler/kube/error-message.ts';
import { systemClock } from '../../../reconciler/kube/clock.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { borrow } from '../../support/lent/borrow.ts';
import { until } from '../../support/until.ts';
import { applyObjects, resourceFor } from '../../tools/testbed/apply-objects.ts';

const fieldManager = 'somebody-else';
const bench = borrow('plain', { restartsPods: true });
const { namespace } = bench;

const named = (name: string) => ({ namespace, name });

/** Every pod by its uid: none is replaced while this stays as it is. Those of a test before may still end. */
async function pods(): Promise<string[]> {
  const { items } = await bench.client.list(Pod, { namespace });
  const staying = items.filter(({ metadata }) => !metadata.deletionTimestamp);
  return staying.map(({ metadata }) => `${metadata.name} ${metadata.uid}`).toSorted();
}

/** The versions of all Secrets. */
async function secrets(): Promise<string[]> {
  const { items } = await bench.client.list(Secret, { namespace });
  return items.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`).toSorted();
}

test('the networks and the domain of a Cluster are edited: what runs stays, and both values are named', async () => {
  const { spec } = await bench.client.get<KubeObject & { spec: { clusterNetwork: object } }>(Cluster, named('c1'));
  const [podsBefore, secretsBefore] = [await pods(), await secrets()];
  const set = async (clusterNetwork: object): Promise<void> => {
    await bench.client.mergePatch(Cluster, named('c1'), { spec: { clusterNetwork } }, { fieldManager });
  };
  const back = { ...('serviceDomain' in spec.clusterNetwork ? {} : { serviceDomain: null }), ...spec.clusterNetwork };
  onTestFinished(() => set(back));
  await set({
    pods: { cidrBlocks: ['10.99.0.0/16'] },
    services: { cidrBlocks: ['10.98.0.0/16'] },
    serviceDomain: 'other.local',
  });
  const { message } = await bench.untilCondition('c1', 'ClusterNetworkUnchanged', { reason: 'ClusterNetworkChanged' });
  for (const value of [
    '10.99.0.0/16',
    '10.244.0.0/16',
    '10.98.0.0/16',
    '10.128.0.0/16',
    'other.local',
    'cluster.local',
  ])
    expect(message).toContain(value);
  await bench.untilSeen('c1');
  expect((await bench.condition('c1', 'Available'))?.status).toBe('True');
  expect(await pods()).toEqual(podsBefore);
  expect(await secrets()).toEqual(secretsBefore);

  await set(back);
  await bench.untilCondition('c1', 'ClusterNetworkUnchanged', { status: 'True' });
  await bench.undo();
});

test('a Service that the API server refuses: what is deleted beside it comes back', async () => {
  const { apiService } = namesOf('c1');
  const metadata = { name: 'hosted-control-plane-test-refusal' };
  const policy = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata,
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['services'] }],
      },
      validations: [{ expression: `object.metadata.name != '${apiService}'`, message: 'no Service changes here' }],
    },
  };
  const binding = {
    ...policy,
    kind: 'ValidatingAdmissionPolicyBinding',
    spec: { policyName: metadata.name, validationActions: ['Deny'] },
  };
  const allow = async (): Promise<void> => {
    for (const each of [binding, policy]) await bench.client.delete(resourceFor(each), metadata);
  };
  onTestFinished(allow);
  await applyObjects(bench.client, [policy, binding]);
  // A new policy takes effect a moment after it is stored.
  await until('the policy to refuse', () =>
    bench.client
      .mergePatch(Service, named(apiService), { metadata: { annotations: { tried: 'x' } } }, { fieldManager })
      .then(
        () => false,
        (error: unknown) => messageOf(error).includes('no Service changes here'),
      ),
  );
  await bench.patch('c1', {
    spec: { exposure: { loadBalancer: { annotations: { 'metallb.io/address-pool': 'b' } } } },
  });
  await bench.untilCondition('c1', 'APIServerServiceReady', { message: /no Service changes here/ });
  const deployment = () => bench.client.find(Deployment, named('c1-scheduler'));
  const old = (await deployment())?.metadata.uid;
  await bench.client.delete(Deployment, named('c1-scheduler'));
  await until('another Deployment', async () => ![old, undefined].includes((await deployment())?.metadata.uid));
  const scheduler = await bench.untilCondition('c1', 'SchedulerReady', { status: 'True' });
  expect(scheduler.reason).toBe('ReconcileSucceeded');
  await allow();
  await bench.undo();
});

test('a volume that may not grow, by a LimitRange: its condition has the words of the API server, and etcd is looked after', async () => {
  const [claim] = (
    await bench.client.list<KubeObject & { spec: { resources: { requests: { storage: string } } } }>(
      PersistentVolumeClaim,
      { namespace },
    )
  ).items;
  const max = { storage: claim?.spec.resources.requests.storage };
  const limits = [{ type: 'PersistentVolumeClaim', max }];
  const range = { apiVersion: 'v1', kind: 'LimitRange', metadata: named('small'), spec: { limits } };
  await applyObjects(bench.client, [range]);
  onTestFinished(() => bench.client.delete(resourceFor(range), named('small')));
  await bench.patch('c1', { spec: { etcd: { autoGrow: false, volumeSize: '100Gi' } } });
  await bench.restartOperator();
  const { message } = await bench.untilCondition('c1', 'EtcdClusterReady', { reason: 'VolumeNotExpandable' });
  expect(message).toContain('maximum storage usage per PersistentVolumeClaim is');
  await bench.untilCondition('c1', 'EtcdClusterHealthy', { status: 'True' });
  expect((await bench.get('c1')).status?.etcd?.members).toMatchObject([{ name: 'c1-etcd-0' }]);
  await bench.undo();
});

test('the clock of the operator is a year ahead: it says so, and issues and replaces nothing', async () => {
  const [podsBefore, secretsBefore] = [await pods(), await secrets()];
  const yearMs = 365 * 86_400_000;
  await bench.stopOperator();
  onTestFinished(() => {
    bench.clock = undefined;
  });
  bench.clock = { ...systemClock, now: () => Date.now() + yearMs };
  await bench.startOperator();
  await bench.untilCondition('c1', 'ClocksAgree', { reason: 'ClockWrong' });
  await bench.untilSeen('c1');
  expect(await secrets()).toEqual(secretsBefore);
  expect(await pods()).toEqual(podsBefore);
  bench.clock = undefined;
  await bench.restartOperator();
  await bench.untilCondition('c1', 'ClocksAgree', { status: 'True' });
  expect(await secrets()).toEqual(secretsBefore);
  await bench.undo();
});
