import { beforeAll, describe, expect, it } from 'vitest';
import { usuallyFalse } from '../../../constructs/api/conditions.ts';
import { finalizer, pausedAnnotation } from '../../../constructs/api/group.ts';
import { Cluster, Deployment, Event, HostedControlPlane, Secret } from '../../../constructs/api/resources.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { comparableObjects } from '../../support/loop/comparable-objects.ts';
import { completeCluster, expectNoWrites, orderedCluster, settleBy } from '../../support/loop/scenario.ts';
import { ourName, type MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { loadBalancerAddress } from '../../support/management-controllers.ts';
import type { StoredObject } from '../../support/memory-objects.ts';
import { clusterName, namespace } from '../../support/scope.ts';

const user = { fieldManager: 'user' };

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeCluster();
});

function conditionOf(managementCluster: MemoryCluster, type: string): string {
  const { status, reason, message } = managementCluster.conditions.find((condition) => condition.type === type) ?? {};
  return `${status} ${reason}: ${message}`;
}

describe('a control plane when everything else works', () => {
  it('becomes ready within ten reconciles, and then nothing is written any more', async () => {
    const managementCluster = await orderedCluster();
    const operator = await OperatorProcess.start(managementCluster);
    expect(await operator.untilSettled()).toBeLessThan(10);
    expect(operator.errors).toEqual([]);
    const isFalse = managementCluster.conditions.filter(({ status }) => status !== 'True').map(({ type }) => type);
    expect(isFalse).toEqual(usuallyFalse);
    expect(managementCluster.hostedControlPlane).toMatchObject({
      spec: { controlPlaneEndpoint: { host: loadBalancerAddress, port: 6443 } },
      status: {
        initialization: { controlPlaneInitialized: true },
        versions: [{ version: 'v1.36.3', replicas: 2 }],
        replicas: 2,
        readyReplicas: 2,
        availableReplicas: 2,
        upToDateReplicas: 2,
        etcdVolumeSize: '4Gi',
        legacyIP: loadBalancerAddress,
        inClusterAccess: 'LoadBalancer',
      },
    });
    await expectNoWrites(managementCluster, operator);
    await operator.stop();
  });

  it('is created in an order that is fast and safe', async () => {
    const position = (write: string) => {
      const found = complete.management.writes.indexOf(write);
      if (found < 0) throw new Error(`${write} is not among ${complete.management.writes.join(', ')}`);
      return found;
    };
    const order = [
      'patch HostedControlPlane team/c1-x7k2p',
      'create Secret team/c1-ca',
      'apply Secret team/c1-etcd-server',
      'apply StatefulSet team/c1-etcd',
      'apply Deployment team/c1-api-server',
      'apply Deployment team/c1-controller-manager',
    ].map(position);
    expect(order).toEqual([...order].sort((a, b) => a - b));
    // etcd starts in the first reconcile, while the load balancer is being created.
    expect(position('apply StatefulSet team/c1-etcd')).toBeLessThan(position('apply HostedControlPlane team/c1-x7k2p'));
    // The finalizer is written first: objects created before it could outlive the HostedControlPlane.
    const [first] = complete.management.writes
      .filter((write) => !/ (Namespace|CustomResourceDefinition|Cluster) /.test(write))
      .slice(1);
    expect(first).toBe('patch HostedControlPlane team/c1-x7k2p');
  });

  it('gets no change at all when a new operator process starts', async () => {
    const managementCluster = complete.copy();
    await settleBy(managementCluster);
    const writes = [...managementCluster.management.writes, ...managementCluster.hosted.writes];
    expect(writes).toEqual([]);
    expect(comparableObjects(managementCluster)).toEqual(comparableObjects(complete));
  });
});

describe('a control plane that must not be changed', () => {
  it('is not changed while it is paused, has the condition Paused, and is reconciled afterwards', async () => {
    const managementCluster = complete.copy();
    const operator = await OperatorProcess.start(managementCluster);
    await operator.reconcile();
    const annotations = (value: string | null) => ({ metadata: { annotations: { [pausedAnnotation]: value } } });
    await managementCluster.user.mergePatch(HostedControlPlane, ourName, annotations('true'), user);
    await managementCluster.change({ replicas: 3 });
    await operator.untilSettled();
    expect(replicasOf(managementCluster)).toBe(2);
    expect(conditionOf(managementCluster, 'Paused')).toBe(
      `True Paused: the annotation ${pausedAnnotation} is set: remove it to resume`,
    );

    await managementCluster.user.delete(Secret, { namespace, name: 'c1-scheduler' });
    await expectNoWrites(managementCluster, operator);

    await managementCluster.user.mergePatch(HostedControlPlane, ourName, annotations(null), user);
    await operator.untilSettled();
    expect(replicasOf(managementCluster)).toBe(3);
    expect(managementCluster.objects.get(Secret, 'c1-scheduler')).toBeDefined();
    expect(conditionOf(managementCluster, 'Paused')).toMatch(/^False/);
    await operator.stop();
  });

  it.each<[string, (managementCluster: MemoryCluster) => Promise<unknown>, string]>([
    [
      'is invalid',
      (managementCluster) => managementCluster.change({ version: 'v1.99.0' }),
      'Ready False InvalidConfiguration',
    ],
    [
      'has no owner',
      ({ user: client }) =>
        client.mergePatch(HostedControlPlane, ourName, { metadata: { ownerReferences: null } }, user),
      'Ready False WaitingForCluster',
    ],
    ['is being deleted', ({ user: client }) => client.delete(HostedControlPlane, ourName), 'Ready False Deleting'],
  ])('is not reported as paused after the pause when it %s', async (_, change, expected) => {
    const managementCluster = complete.copy();
    const operator = await OperatorProcess.start(managementCluster);
    const paused = (value: string | null) =>
      managementCluster.user.mergePatch(
        HostedControlPlane,
        ourName,
        { metadata: { annotations: { [pausedAnnotation]: value } } },
        user,
      );
    await paused('true');
    await operator.untilSettled();
    await change(managementCluster);
    await paused(null);
    await operator.untilObserved();
    await operator.reconcile();
    const told = managementCluster.conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`);
    expect(told).toEqual(expect.arrayContaining([expected, 'Paused False NotPaused']));
    await operator.stop();
  });

  it('reports for what generation it has computed what', async () => {
    const managementCluster = complete.copy();
    const operator = await OperatorProcess.start(managementCluster);
    const annotations = { [pausedAnnotation]: 'true' };
    const args = { scheduler: { args: { 'leader-elect': 'false' } } };
    await managementCluster.user.mergePatch(HostedControlPlane, ourName, { metadata: { annotations } }, user);
    await managementCluster.change({ deployment: args });
    await operator.untilSettled();
    const { generation = 0 } = managementCluster.hostedControlPlane.metadata;
    const observed = Object.fromEntries(
      managementCluster.conditions.map(({ type, observedGeneration }) => [type, observedGeneration]),
    );
    expect(observed).toMatchObject({ Paused: generation, Ready: generation - 1, Available: generation - 1 });
    expect(managementCluster.hostedControlPlane).toMatchObject({ status: { observedGeneration: generation - 1 } });

    await managementCluster.user.mergePatch(HostedControlPlane, ourName, { metadata: { annotations: null } }, user);
    await operator.untilSettled();
    expect(managementCluster.hostedControlPlane).toMatchObject({ status: { observedGeneration: generation } });
    const reasons = managementCluster.objects.list<StoredObject>(Event, {}).map((event) => event['reason']);
    expect(reasons).toContain('ControllerArgumentTakesPrecedence');
    await operator.stop();
  });

  it('is not deleted while its Cluster is paused', async () => {
    const managementCluster = complete.copy();
    const operator = await OperatorProcess.start(managementCluster);
    const paused = (value: boolean) =>
      managementCluster.user.mergePatch(Cluster, { namespace, name: clusterName }, { spec: { paused: value } }, user);
    await paused(true);
    await managementCluster.user.delete(HostedControlPlane, ourName);
    await operator.untilSettled();
    expect(replicasOf(managementCluster)).toBe(2);
    await paused(false);
    await operator.untilSettled();
    expect(managementCluster.objects.get(HostedControlPlane, ourName.name)).toBeUndefined();
    await operator.stop();
  });

  it('is not created before a Cluster owns it', async () => {
    const managementCluster = await orderedCluster();
    const orphan = { metadata: { ownerReferences: null } };
    await managementCluster.user.mergePatch(HostedControlPlane, ourName, orphan, user);
    const operator = await OperatorProcess.start(managementCluster);
    await operator.reconcile();
    expect(managementCluster.conditions).toEqual([]);
    await managementCluster.clock.advance(10_000);
    await operator.untilSettled();
    expect(conditionOf(managementCluster, 'Ready')).toMatch(/^False WaitingForCluster/);
    const made = managementCluster.objects.objects.map(({ kind }) => kind).filter((kind) => kind !== Event.kind);
    expect(made.sort()).toEqual(['Cluster', 'HostedControlPlane']);
    await operator.stop();
  });

  describe('because another provider of this kind has made it', () => {
    /** The object of another provider, with its finalizer, and a StatefulSet as that provider names and labels it. */
    async function foreign(name: string, isControlled: boolean): Promise<MemoryCluster> {
      const managementCluster = await orderedCluster();
      const finalizers = { metadata: { finalizers: [finalizer] } };
      await managementCluster.user.mergePatch(HostedControlPlane, ourName, finalizers, user);
      const { apiVersion, kind, metadata } = managementCluster.hostedControlPlane;
      const labels = { 'cluster.x-k8s.io/cluster-name': clusterName, 'app.kubernetes.io/component': 'etcd' };
      const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '', controller: true };
      const ownerReferences = isControlled ? [owner] : [];
      const containers = [{ name: 'etcd', image: 'example.org/etcd' }];
      const spec = {
        replicas: 3,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      };
      const set = {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        metadata: { name, namespace, labels, ownerReferences },
        spec,
      };
      await managementCluster.user.create(set, user);
      return managementCluster;
    }

    it.each([
      ['it controls a workload', 'etcd-of-c1', true],
      ['a workload has the name of ours', 'c1-etcd', false],
    ])('is never changed and never deleted, and a condition says so: %s', async (_, name, isControlled) => {
      const managementCluster = await foreign(name, isControlled);
      const begun = managementCluster.management.writes.length;
      const operator = await OperatorProcess.start(managementCluster);
      await operator.rounds(2);
      expect(conditionOf(managementCluster, 'Ready')).toContain(
        `False ForeignControlPlane: another provider has made StatefulSet ${name}, `,
      );
      await managementCluster.user.delete(HostedControlPlane, ourName);
      await operator.rounds(2);
      await operator.stop();
      const written = managementCluster.management.writes.slice(begun).filter((write) => !/ Event /.test(write));
      expect(new Set(written)).toEqual(
        new Set(['apply HostedControlPlane team/c1-x7k2p', 'delete HostedControlPlane team/c1-x7k2p']),
      );
      expect(managementCluster.hostedControlPlane.metadata.finalizers).toEqual([finalizer]);
    });

    it('is told apart from a workload of somebody else that has the labels of the Cluster', async () => {
      const managementCluster = await foreign('autoscaler', false);
      const operator = await OperatorProcess.start(managementCluster);
      await operator.rounds(2);
      await operator.stop();
      expect(conditionOf(managementCluster, 'Ready')).not.toContain('ForeignControlPlane');
      expect(managementCluster.objects.get(Secret, 'c1-ca')).toBeDefined();
    });
  });
});

function replicasOf(managementCluster: MemoryCluster): number {
  const { spec } = managementCluster.objects.get<StoredObject>(Deployment, 'c1-api-server') as {
    spec: { replicas: number };
  } & StoredObject;
  return spec.replicas;
}

describe('a control plane behind an Ingress', () => {
  const ingress = { apiHost: 'api.example.org', konnectivityHost: 'agents.example.org' };
  const names = ['api.example.org', 'agents.example.org', 'tunnel.api.example.org'];
  const hostsIn = (managementCluster: MemoryCluster) =>
    (managementCluster.hostedControlPlane['status'] as { hosts?: { name: string; heldSince: string }[] }).hosts ?? [];

  it('records the host names that it holds, and one that worked before they were recorded keeps them', async () => {
    const managementCluster = await completeCluster({ exposure: { ingress } });
    expect(hostsIn(managementCluster).map(({ name }) => name)).toEqual(names);

    const status = { fieldManager: 'older release', subresource: 'status' } as const;
    await managementCluster.user.mergePatch(HostedControlPlane, ourName, { status: { hosts: null } }, status);
    expect(hostsIn(managementCluster)).toEqual([]);
    await settleBy(managementCluster);
    const { creationTimestamp = '' } = managementCluster.hostedControlPlane.metadata;
    expect(hostsIn(managementCluster)).toEqual(names.map((name) => ({ name, heldSince: creationTimestamp })));
    expect(conditionOf(managementCluster, 'SyncControlPlaneEndpointReady')).toContain('True');
  });
});
