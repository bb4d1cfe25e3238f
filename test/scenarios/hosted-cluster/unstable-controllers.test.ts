import type { PodObject } from '../../../imports/kubernetes.ts';
import { expect, it } from 'vitest';
import { Deployment, Pod } from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { NamespaceObjects } from '../../support/memory-cluster/controlled-objects.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster } from '../../support/loop/scenario.ts';
import type { StoredObject } from '../../support/memory-objects.ts';
import { clusterName } from '../../support/scope.ts';

const conditionOf = ({ conditions }: MemoryCluster, type: string): string => {
  const { status, reason, message } = conditions.find((one) => one.type === type) ?? {};
  return `${status} ${reason}: ${message}`;
};

it('a controller manager that is ready for ten seconds and exits, again and again, is not ready until it runs', async () => {
  const cluster = await completeCluster();
  const at = (ms: number): string => new Date(cluster.clock.now() + ms).toISOString();
  for (const pod of cluster.objects.list<StoredObject>(Pod, selectorLabels(clusterName, 'controller-manager'))) {
    const terminated = { exitCode: 1, message: 'E1 lost lease', startedAt: at(-20_000), finishedAt: at(-10_000) };
    const state = { running: { startedAt: at(-1_000) } };
    const containerStatuses = [
      { name: 'kube-controller-manager', ready: true, restartCount: 7, state, lastState: { terminated } },
    ];
    cluster.objects.put({ ...pod, status: { ...(pod['status'] as object), containerStatuses } });
  }
  const believed = at(59_000);
  const operator = await OperatorProcess.start(cluster);
  await operator.reconcile();
  expect(conditionOf(cluster, 'ControllerManagerReady')).toMatch(/^False PodsFailing: .* has ended 7 times/);
  expect(conditionOf(cluster, 'Ready')).toMatch(/^False PodsFailing/);
  expect(operator.requeueAt?.toISOString()).toBe(believed);
  await cluster.clock.advance(59_000);
  await operator.reconcile();
  expect(conditionOf(cluster, 'ControllerManagerReady')).toMatch(/^True/);
  await operator.stop();
});

it('pods of an add-on that a webhook refuses are told with its words', async () => {
  const cluster = await completeCluster();
  const operator = await OperatorProcess.start(cluster);
  await operator.untilSettled();
  const { store } = cluster.hosted;
  store.put({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: store.nextUid() } });
  await operator.rounds(2);
  const message = 'admission webhook "pods.example.org" denied the request: no';
  const inSystem = new NamespaceObjects(cluster.hosted, 'kube-system');
  const agents = inSystem.get<StoredObject>(Deployment, 'konnectivity-agent');
  const conditions = [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message }];
  inSystem.put({ ...agents!, status: { ...(agents!['status'] as object), conditions } });
  await operator.untilObserved();
  await operator.reconcile();
  expect(conditionOf(cluster, 'WorkloadKonnectivityReady')).toBe(
    `False PodsFailing: Deployment konnectivity-agent: ${message}`,
  );
  await operator.stop();
});

it('an API server that no konnectivity agent reaches is told while the agents run, until one reaches it', async () => {
  const cluster = await completeCluster({ replicas: 2 });
  const { store } = cluster.hosted;
  store.put({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: store.nextUid() } });
  const [lonely] = cluster.objects.list<PodObject>(Pod, selectorLabels(clusterName, 'api-server'));
  cluster.withoutAgent.add(lonely?.status?.podIP ?? '');
  const operator = await OperatorProcess.start(cluster);
  await operator.rounds(4);
  expect(conditionOf(cluster, 'WorkloadKonnectivityReady')).toMatch(/^True/);
  const pass = async (seconds: number) => {
    await cluster.clock.advance(seconds * 1_000);
    await operator.rounds(1);
  };
  await pass(31);
  expect(conditionOf(cluster, 'WorkloadKonnectivityReady')).toMatch(
    new RegExp(`^False APIServerWithoutAgent: no konnectivity agent is connected to ${lonely?.metadata.name},`),
  );
  cluster.withoutAgent.clear();
  await pass(60);
  expect(conditionOf(cluster, 'WorkloadKonnectivityReady')).toMatch(/^True/);
  await operator.stop();
});

it('an API server that the successor of an agent does not reach is named, although the one before it did', async () => {
  const cluster = await completeCluster({ replicas: 2 });
  const { store } = cluster.hosted;
  store.put({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: store.nextUid() } });
  const operator = await OperatorProcess.start(cluster);
  await operator.rounds(4);
  expect(conditionOf(cluster, 'WorkloadKonnectivityReady')).toMatch(/^True/);

  const inSystem = new NamespaceObjects(cluster.hosted, 'kube-system');
  const agents = inSystem.get<StoredObject>(Deployment, 'konnectivity-agent')!;
  inSystem.put({ ...agents, status: { ...(agents['status'] as object), availableReplicas: 0 } });
  await operator.untilObserved();
  await operator.reconcile();
  const [lonely] = cluster.objects.list<PodObject>(Pod, selectorLabels(clusterName, 'api-server'));
  cluster.withoutAgent.add(lonely?.status?.podIP ?? '');
  await operator.rounds(2);
  await cluster.clock.advance(31_000);
  await operator.rounds(1);
  expect(conditionOf(cluster, 'WorkloadKonnectivityReady')).toMatch(
    new RegExp(`^False APIServerWithoutAgent: no konnectivity agent is connected to ${lonely?.metadata.name},`),
  );
  await operator.stop();
});
