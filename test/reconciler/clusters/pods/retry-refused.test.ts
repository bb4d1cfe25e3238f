import type { PodObject } from '../../../../imports/kubernetes.ts';
import { describe, expect, it } from 'vitest';
import { podsAcceptedAnnotation } from '../../../../constructs/api/group.ts';
import { DaemonSet, Deployment, Pod, ResourceQuota, StatefulSet } from '../../../../constructs/api/resources.ts';
import { isReady } from '../../../../reconciler/kube/readiness.ts';
import type { EndpointProbe } from '../../../../reconciler/clusters/exposure/endpoint-probes.ts';
import { type PodsApi, refusedWorkloads, retryRefused } from '../../../../reconciler/clusters/pods/retry-refused.ts';
import type { MemoryCluster } from '../../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../../support/loop/operator-process.ts';
import { completeCluster } from '../../../support/loop/scenario.ts';
import { NamespaceObjects } from '../../../support/memory-cluster/controlled-objects.ts';
import type { StoredObject } from '../../../support/memory-objects.ts';
import { namespace } from '../../../support/scope.ts';
import { isTrue } from '../../../scenarios/conditions/operate.ts';

const admin = { fieldManager: 'admin' };
const quotaName = { namespace, name: 'quota' };

async function noMorePods({ user }: MemoryCluster, place = namespace): Promise<void> {
  const { apiVersion, kind } = ResourceQuota;
  const metadata = { name: quotaName.name, namespace: place };
  await user.create({ apiVersion, kind, metadata, spec: { hard: { pods: '0' } } }, admin);
}

const running = ({ objects }: MemoryCluster, name: string): boolean => {
  const pod = objects.get<PodObject>(Pod, name);
  return pod !== undefined && isReady(pod);
};

describe('pods that an API server refuses, and their controllers wait longer and longer', () => {
  it.each([
    ['c1-scheduler', Deployment, 'SchedulerReady'],
    ['c1-api-server', Deployment, 'APIServerDeploymentsReady'],
    ['c1-etcd', StatefulSet, 'EtcdClusterReady'],
  ] as const)('%s has its pod half a minute after the cause has gone', async (name, resource, condition) => {
    const cluster = await completeCluster();
    cluster.inBackOff = new Map();
    const operator = await OperatorProcess.start(cluster);
    await operator.untilSettled();
    await noMorePods(cluster);
    cluster.objects.remove(cluster.objects.get(Pod, `${name}-0`)!);
    const pass = async () => {
      await cluster.clock.advance(31_000);
      await operator.rounds(2);
    };
    for (let round = 0; round < 4; round++) await pass();
    const told = () => cluster.conditions.find(({ type }) => type === condition);
    expect(told()).toMatchObject({ status: 'False', message: expect.stringContaining('exceeded quota') as string });
    const annotations = () => cluster.objects.get(resource, name)?.metadata.annotations ?? {};
    expect(annotations()).not.toHaveProperty([podsAcceptedAnnotation]);

    await cluster.user.delete(ResourceQuota, quotaName);
    await operator.rounds(1);
    expect(running(cluster, `${name}-0`)).toBe(false);
    await pass();
    expect(annotations()).toHaveProperty([podsAcceptedAnnotation]);
    expect(running(cluster, `${name}-0`)).toBe(true);
    await pass();
    expect(isTrue(cluster)).toBe(true);
    expect(operator.errors).toEqual([]);
    await operator.stop();
  });

  it('an add-on in the hosted cluster is tried again once it would get its pods, and not before', async () => {
    const cluster = await completeCluster();
    const operator = await OperatorProcess.start(cluster);
    await operator.untilSettled();
    const { store } = cluster.hosted;
    store.put({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: store.nextUid() } });
    await operator.rounds(2);
    const inSystem = new NamespaceObjects(cluster.hosted, 'kube-system');
    const agents = () => inSystem.get<StoredObject>(Deployment, 'konnectivity-agent')!;
    const failure = { type: 'ReplicaFailure', status: 'True', lastTransitionTime: '2026-11-28T10:00:00Z' };
    const { apiVersion, kind } = ResourceQuota;
    const quota = { name: 'quota', namespace: 'kube-system' };
    inSystem.put({ apiVersion, kind, metadata: quota, spec: { hard: { pods: '0' } } });
    const pass = async () => {
      inSystem.put({ ...agents(), status: { ...(agents()['status'] as object), conditions: [failure] } });
      await operator.untilObserved();
      await cluster.clock.advance(31_000);
      await operator.reconcile();
    };
    for (let round = 0; round < 4; round++) await pass();
    expect(agents().metadata.annotations ?? {}).not.toHaveProperty([podsAcceptedAnnotation]);
    inSystem.remove(inSystem.get(ResourceQuota, 'quota')!);
    await pass();
    const first = agents().metadata.annotations?.[podsAcceptedAnnotation];
    expect(first).toBeDefined();
    for (let round = 0; round < 4; round++) await pass();
    expect(agents().metadata.annotations?.[podsAcceptedAnnotation]).toBe(first);
    expect(operator.errors).toEqual([]);
    await operator.stop();
  });
});

it('a workload whose pods are still refused keeps no other one from being tried again', async () => {
  const template = (name: string) => ({ metadata: { labels: {} }, spec: { containers: [{ name }] } });
  const workloads = ['large', 'small', 'tiny'].map((name) => ({
    workload: {
      apiVersion: Deployment.apiVersion,
      kind: Deployment.kind,
      metadata: { name, namespace },
      spec: { template: template(name) },
    },
    refusal: [name],
  }));
  const annotated: string[] = [];
  const api: PodsApi = {
    refusal: async (pod) => (JSON.stringify(pod).includes('"large"') ? 'exceeded quota' : undefined),
    annotate: async (_, { metadata }) => annotated.push(metadata.name),
  };
  let result: unknown;
  const probe: EndpointProbe = {
    probe: async (_, attempt) => {
      result = await attempt().catch((error: unknown) => error);
      return { kind: 'works' };
    },
  };
  await retryRefused(workloads, { probe, api, now: new Date(0) });
  expect(annotated).toEqual(['small', 'tiny']);
  expect(result).toEqual(new Error('exceeded quota'));
});

describe('which workloads lack pods because they were refused', () => {
  const at = '2026-11-28T10:00:00Z';
  const metadata = { name: 'w', uid: 'u', generation: 2 };
  const deployment = (status: string) => ({
    apiVersion: Deployment.apiVersion,
    kind: Deployment.kind,
    metadata,
    status: { conditions: [{ type: 'ReplicaFailure', status, message: 'no', lastTransitionTime: at }] },
  });
  const set = (replicas: number) => ({
    apiVersion: StatefulSet.apiVersion,
    kind: StatefulSet.kind,
    metadata,
    spec: { replicas: 3 },
    status: { observedGeneration: 2, replicas, updateRevision: 'r' },
  });
  const daemonSet = (currentNumberScheduled: number, observedGeneration = 2) => ({
    apiVersion: DaemonSet.apiVersion,
    kind: DaemonSet.kind,
    metadata,
    status: { observedGeneration, currentNumberScheduled, desiredNumberScheduled: 1 },
  });
  const warnings = [{ uid: 'u', words: 'no' }];

  it.each([
    ['a Deployment that says so', { deployments: [deployment('True')] }, [['u', 2, at]]],
    ['a Deployment that does not', { deployments: [deployment('False')] }, []],
    ['a StatefulSet of which events say so', { sets: [set(2)], warnings }, [['u', 2, 2, 'r']]],
    ['a StatefulSet of which they do not', { sets: [set(2)] }, []],
    ['a StatefulSet that has its pods again', { sets: [set(3)], warnings }, []],
    ['a DaemonSet without pods', { daemonSets: [daemonSet(0)] }, [['u', 2, 0]]],
    ['a DaemonSet with its pods', { daemonSets: [daemonSet(1)] }, []],
    ['a DaemonSet that its controller has not seen', { daemonSets: [daemonSet(0, 1)] }, []],
  ])('%s', (_, observed, refusals) => {
    expect(refusedWorkloads(observed).map(({ refusal }) => refusal)).toEqual(refusals);
  });
});
