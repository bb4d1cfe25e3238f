import { beforeAll, describe, expect, it } from 'vitest';
import {
  Cluster,
  Event,
  HostedControlPlane,
  Machine,
  MachineDeployment,
  MachinePool,
  MachineSet,
  PersistentVolumeClaim,
  Secret,
} from '../../../constructs/api/resources.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster } from '../../support/loop/scenario.ts';
import { ourName, type MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { clusterName, namespace } from '../../support/scope.ts';

const user = { fieldManager: 'user' };

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeCluster();
});

/** `Kind name` of what is left in the namespace, sorted. */
function left(managementCluster: MemoryCluster): string[] {
  return managementCluster.objects.objects
    .filter(({ kind }) => kind !== Event.kind)
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    .sort();
}

/** Deletes the HostedControlPlane and runs an operator until it is gone. */
async function deleteIn(managementCluster: MemoryCluster): Promise<void> {
  const operator = await OperatorProcess.start(managementCluster);
  await managementCluster.user.delete(HostedControlPlane, ourName);
  await operator.untilSettled();
  expect(operator.errors).toEqual([]);
  await operator.stop();
}

const deletions = (managementCluster: MemoryCluster, ...kinds: string[]) =>
  managementCluster.management.writes.filter((write) => kinds.some((kind) => write.startsWith(`delete ${kind} `)));

describe('a deleted HostedControlPlane', () => {
  it('is gone after everything that was created for it, its volumes included', async () => {
    const managementCluster = complete.copy();
    await deleteIn(managementCluster);
    expect(left(managementCluster)).toEqual(['Cluster c1']);
  });

  it('leaves the volumes of etcd if they are to be retained: they are the only copy of the data', async () => {
    const managementCluster = complete.copy();
    await managementCluster.change({ etcd: { replicas: 3, volumeRetention: 'Retain' } });
    await deleteIn(managementCluster);
    const claims = [0, 1, 2].map((ordinal) => `PersistentVolumeClaim etcd-data-c1-etcd-${ordinal}`);
    const keys = ['ca', 'encryption', 'etcd', 'proxy', 'sa'].map((name) => `Secret c1-${name}`);
    expect(left(managementCluster)).toEqual(['Cluster c1', ...claims, ...keys]);
    expect(deletions(managementCluster, PersistentVolumeClaim.kind)).toEqual([]);
  });

  it('releases its host names before any step that takes time, because another cluster may request them', async () => {
    const hosts = { apiHost: 'api.example.test', konnectivityHost: 'agents.example.test' };
    const managementCluster = await completeCluster({ exposure: { ingress: { ...hosts, controller: 'haproxy' } } });
    const begun = managementCluster.management.writes.length;
    await deleteIn(managementCluster);
    const kinds = managementCluster.management.writes
      .slice(begun)
      .flatMap((write) => /^delete (\S+)/.exec(write)?.[1] ?? []);
    expect(kinds.slice(0, 3)).toEqual([HostedControlPlane.kind, 'Ingress', 'Ingress']);
    expect(kinds.filter((kind) => kind === 'Ingress')).toHaveLength(2);
    const rest = kinds.slice(kinds.lastIndexOf('PersistentVolumeClaim') + 1);
    expect(rest.indexOf('Secret')).toBe(rest.length - rest.filter((kind) => kind === 'Secret').length);
  });

  it('is gone with everything, its volumes included, also if its owner reference is missing', async () => {
    const managementCluster = complete.copy();
    const metadata = { ownerReferences: [] };
    await managementCluster.user.mergePatch(HostedControlPlane, ourName, { metadata }, user);
    const operator = await OperatorProcess.start(managementCluster);
    await managementCluster.user.delete(HostedControlPlane, ourName);
    await operator.untilObserved();
    await operator.reconcile();
    // No change of another object leads to one without owner.
    expect(operator.requeueAt?.getTime()).toBe(managementCluster.clock.now() + 2_000);
    await operator.untilSettled();
    await operator.stop();
    expect(left(managementCluster)).toEqual(['Cluster c1']);
  });

  it('leaves the control plane of another object alone if it has made none and has no owner', async () => {
    const managementCluster = complete.copy();
    const second = { namespace, name: 'second' };
    const { apiVersion, kind, ...first } = managementCluster.hostedControlPlane;
    const metadata = { ...second, finalizers: first.metadata.finalizers };
    await managementCluster.user.create({ apiVersion, kind, metadata, spec: first['spec'] }, user);
    const before = left(managementCluster);
    const operator = await OperatorProcess.start(managementCluster);
    await managementCluster.user.delete(HostedControlPlane, second);
    await operator.untilObserved();
    await operator.reconcile('second');
    managementCluster.settle();
    await operator.stop();
    expect(left(managementCluster)).toEqual(before.filter((name) => name !== 'HostedControlPlane second'));
  });

  it('keeps its API server while workers exist, also if its Cluster is deleted at the same time, as by kubectl delete -f', async () => {
    const managementCluster = complete.copy();
    const { apiVersion, kind } = Machine;
    const labels = { 'cluster.x-k8s.io/cluster-name': clusterName };
    await managementCluster.user.create({ apiVersion, kind, metadata: { name: 'm1', namespace, labels } }, user);
    const cluster = { namespace, name: clusterName };
    const finalizers = { metadata: { finalizers: ['cluster.cluster.x-k8s.io'] } };
    await managementCluster.user.mergePatch(Cluster, cluster, finalizers, user);
    const operator = await OperatorProcess.start(managementCluster);
    await managementCluster.user.delete(Cluster, cluster);
    await managementCluster.user.delete(HostedControlPlane, ourName);
    await operator.rounds(2);
    expect(deletions(managementCluster, 'Deployment')).toEqual([]);
    expect(managementCluster.conditions.find(({ type }) => type === 'Available')?.status).toBe('True');
    await managementCluster.user.delete(Machine, { namespace, name: 'm1' });
    await operator.untilSettled();
    expect(left(managementCluster)).toEqual(['Cluster c1']);
    await operator.stop();
  });

  it('is still reconciled while workers exist, by the last accepted spec if the newest is refused', async () => {
    const managementCluster = complete.copy();
    const { apiVersion, kind } = Machine;
    const labels = { 'cluster.x-k8s.io/cluster-name': clusterName };
    await managementCluster.user.create({ apiVersion, kind, metadata: { name: 'm1', namespace, labels } }, user);
    const operator = await OperatorProcess.start(managementCluster);
    await managementCluster.user.delete(HostedControlPlane, ourName);
    await operator.rounds(2);
    for (const spec of [{ replicas: 3 }, { version: 'v1.99.0' }]) {
      await managementCluster.change(spec);
      await managementCluster.user.delete(Secret, { namespace, name: 'c1-scheduler' });
      await operator.untilObserved();
      await operator.rounds(2);
      expect(managementCluster.objects.get(Secret, 'c1-scheduler')).toBeDefined();
      expect(managementCluster.hostedControlPlane).toMatchObject({ status: { replicas: 3, version: 'v1.36.3' } });
      expect(managementCluster.conditions).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ type: 'Available', status: 'True' }),
          expect.objectContaining({ type: 'Deleting', status: 'True', reason: 'WaitingForWorkersDeletion' }),
          expect.objectContaining({ type: 'Ready', status: 'False', reason: 'Deleting' }),
        ]),
      );
    }
    await managementCluster.user.delete(Machine, { namespace, name: 'm1' });
    await operator.untilSettled();
    expect(operator.errors).toEqual([]);
    expect(left(managementCluster)).toEqual(['Cluster c1']);
    await operator.stop();
  });

  it.each([Machine, MachineSet, MachineDeployment, MachinePool])(
    'keeps its API server while a $kind exists, and is requeued',
    async (resource) => {
      const managementCluster = complete.copy();
      const labels = { 'cluster.x-k8s.io/cluster-name': clusterName };
      if (resource === MachineSet || resource === MachineDeployment) await managementCluster.define(resource);
      const { apiVersion, kind } = resource;
      await managementCluster.user.create({ apiVersion, kind, metadata: { name: 'm1', namespace, labels } }, user);
      const operator = await OperatorProcess.start(managementCluster);
      await managementCluster.user.delete(HostedControlPlane, ourName);
      await operator.untilObserved();
      await operator.reconcile();
      expect(operator.requeueAt?.getTime()).toBe(managementCluster.clock.now() + 5_000);
      expect(deletions(managementCluster, 'Deployment')).toEqual([]);
      expect(managementCluster.conditions.find(({ type }) => type === 'Deleting')).toMatchObject({
        status: 'True',
        reason: 'WaitingForWorkersDeletion',
      });
      await managementCluster.user.delete(resource, { namespace, name: 'm1' });
      await operator.untilSettled();
      expect(left(managementCluster)).toEqual(['Cluster c1']);
      await operator.stop();
    },
  );
});
