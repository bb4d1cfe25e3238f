import { beforeAll, describe, expect, it } from 'vitest';
import { Deployment, Pod, Secret, Service } from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { askForCertificate, isAnswered } from '../../support/loop/asking-kubelet.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster } from '../../support/loop/scenario.ts';
import type { StoredObject } from '../../support/memory-objects.ts';
import { clusterName } from '../../support/scope.ts';

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeCluster();
});

/** One of two API servers is away, as its Deployment says; the controllers of the cluster do nothing about it. */
function loseOne({ objects }: MemoryCluster): void {
  const deployment = objects.get<StoredObject>(Deployment, 'c1-api-server')!;
  objects.put({
    ...deployment,
    status: { ...(deployment['status'] as object), availableReplicas: 1, readyReplicas: 1 },
  });
}

const conditionOf = ({ conditions }: MemoryCluster, type: string): string => {
  const { status, reason, message } = conditions.find((one) => one.type === type) ?? {};
  return `${status} ${reason}: ${message}`;
};

/** Four reconciles in which Kubernetes' controllers do nothing. @returns what has come back, and what was approved */
async function attended(cluster: MemoryCluster): Promise<object> {
  await askForCertificate(cluster);
  const lost = [
    [Deployment, 'c1-scheduler'],
    [Secret, 'c1-controller-manager'],
  ] as const;
  for (const [resource, name] of lost) cluster.objects.remove(cluster.objects.get(resource, name)!);
  const operator = await OperatorProcess.start(cluster);
  for (let round = 0; round < 4; round++) await operator.reconcile();
  await operator.stop();
  expect(operator.errors).toEqual([]);
  return {
    back: lost.filter(([resource, name]) => cluster.objects.get(resource, name)).length,
    isApproved: isAnswered(cluster),
    isConfigured: conditionOf(cluster, 'WorkloadKubeadmConfigReady').startsWith('True'),
    coreDNS: conditionOf(cluster, 'WorkloadCoreDNSReady').split(':')[0],
  };
}
const everything = { back: 2, isApproved: true, isConfigured: true, coreDNS: 'True ReconcileSucceeded' };

describe('while one API server answers, everything that needs one goes on', () => {
  it('when the other one does not come back', async () => {
    const cluster = complete.copy();
    loseOne(cluster);
    expect(await attended(cluster)).toEqual(everything);
    expect(conditionOf(cluster, 'APIServerDeploymentsReady')).toBe(
      'False WaitingForPods: API server: 1 of 2 replicas available',
    );
    expect(conditionOf(cluster, 'Ready')).toMatch(/^False WaitingForPods/);
    expect(conditionOf(cluster, 'Available')).toMatch(/^True/);
  });

  it('when an object is missing that the spec mounts', async () => {
    const cluster = complete.copy();
    const mounts = { policy: { path: '/etc/policy', configMap: { name: 'none' } } };
    await cluster.change({ deployment: { apiServer: { mounts } } });
    expect(await attended(cluster)).toEqual(everything);
    expect(conditionOf(cluster, 'APIServerDeploymentsReady')).toMatch(/^False MountMissing: .*none/);
  });

  it('when the keys of Secrets are gone, of which no new ones are made', async () => {
    const cluster = complete.copy();
    // In spite of its finalizer, as with etcd of the management cluster.
    cluster.management.store.remove(cluster.objects.get(Secret, 'c1-encryption')!);
    expect(await attended(cluster)).toEqual(everything);
    expect(conditionOf(cluster, 'EncryptionAtRestReady')).toMatch(/^False EncryptionKeysMissing/);
  });

  it('when the load balancer has taken its address back, and no pod is replaced', async () => {
    const cluster = complete.copy();
    const before = cluster.objects.get<StoredObject>(Deployment, 'c1-api-server')!['spec'];
    const service = cluster.objects.list<StoredObject>(Service, selectorLabels(clusterName, 'api-server'))[0]!;
    cluster.objects.put({ ...service, status: {} });
    expect(await attended(cluster)).toEqual(everything);
    expect(conditionOf(cluster, 'APIServerServiceReady')).toMatch(/^False WaitingForLoadBalancerAddress: .*any more/);
    expect(cluster.objects.get<StoredObject>(Deployment, 'c1-api-server')!['spec']).toEqual(before);
  });

  it('but nothing does without an API server', async () => {
    const cluster = complete.copy();
    for (const pod of cluster.objects.list(Pod, selectorLabels(clusterName, 'api-server'))) cluster.objects.remove(pod);
    const deployment = cluster.objects.get<StoredObject>(Deployment, 'c1-api-server')!;
    cluster.objects.put({ ...deployment, status: { ...(deployment['status'] as object), availableReplicas: 0 } });
    expect(await attended(cluster)).toMatchObject({ back: 1, isApproved: false, isConfigured: false });
    expect(conditionOf(cluster, 'SchedulerReady')).toBe(
      'False WaitingForOtherPhases: waiting for APIServerDeploymentsReady',
    );
  });
});

it('an API server of another version that does not end holds back versions only', async () => {
  const cluster = complete.copy();
  const [pod] = cluster.objects.list<StoredObject>(Pod, selectorLabels(clusterName, 'api-server'));
  const old = { ...pod!, metadata: { ...pod!.metadata, name: 'c1-api-server-old', uid: 'uid-of-old' } };
  cluster.objects.put({ ...old, metadata: { ...old.metadata, deletionTimestamp: '2026-11-21T12:00:00Z' } });
  await cluster.change({ version: 'v1.36.4' });
  const image = (name: string) => /:(v1[\d.]+)"/.exec(JSON.stringify(cluster.objects.get(Deployment, name)))?.[1];
  expect(await attended(cluster)).toMatchObject({ back: 2, isApproved: true, isConfigured: false });
  expect([image('c1-api-server'), image('c1-scheduler')]).toEqual(['v1.36.4', 'v1.36.3']);
  expect(conditionOf(cluster, 'SchedulerReady')).toMatch(/^False WaitingFor/);
});
