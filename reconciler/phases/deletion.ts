import type { PodObject } from '../../imports/kubernetes.ts';
import {
  CertificateRequest,
  CiliumNetworkPolicy,
  ConfigMap,
  Deployment,
  Ingress,
  IngressRouteTCP,
  NetworkPolicy,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  type Resource,
  resourceOf,
  Secret,
  Service,
  StatefulSet,
  TLSRoute,
} from '../../constructs/api/resources.ts';
import { clusterNameLabel, heldForAnnotation } from '../../constructs/api/group.ts';
import { type ComponentName, selectorLabels } from '../../constructs/cluster/labels.ts';
import { etcdVolumeClaim, namesOf } from '../../constructs/cluster/names.ts';
import { isUsedBy } from '../etcd/claim-user.ts';
import { isControlledBy, type KubeObject } from '../kube/object.ts';
import { done, type Outcome, type Wait, wait } from '../engine/outcome.ts';
import { waitForEnd } from '../clusters/pods/termination.ts';
import { belongsTo, discardSecret, heldSecrets } from '../certificates/held-secret.ts';
import { keptSecrets } from '../certificates/kept-secrets.ts';
import { keepSecret } from '../certificates/orphaned-secrets.ts';
import type { DeletionScope } from './scope.ts';

/** Workers need their control plane until Cluster API has deleted them. @returns undefined when none is left */
export async function waitForWorkers({ cluster, writer }: DeletionScope): Promise<Wait | undefined> {
  const workers = await writer.workers();
  if (workers === 0) return undefined;
  return wait(
    'WaitingForWorkersDeletion',
    `${workers} Machines, MachineSets, MachineDeployments or MachinePools of cluster ${cluster} still exist: delete the Cluster, or delete them first`,
    { afterMs: workersMs },
  );
}

/**
 * Deletes a control plane without workers in the order that is fast and safe: routes, clients of the API server, the API server, etcd,
 * its volumes, all other objects. An API server whose etcd stops first takes its whole grace period. The deletion can be
 * interrupted and resumed at any point.
 */
export async function deleteControlPlane(scope: DeletionScope): Promise<Outcome> {
  const names = namesOf(scope.cluster);
  await deleteOwn(scope, routes);

  const usersOfEtcd = await stop(scope, [
    { resource: Deployment, name: names.controllerManager, component: 'controller-manager' },
    { resource: Deployment, name: names.scheduler, component: 'scheduler' },
    { resource: Deployment, name: names.apiServer, component: 'api-server' },
  ]);
  if (usersOfEtcd) return usersOfEtcd;

  const backup = scope.finalBackup();
  if (backup) return wait(backup.reason, backup.message, { afterMs: backup.afterMs });

  // etcd is deleted only after all its clients have stopped.
  const etcd = await stop(scope, [{ resource: StatefulSet, name: names.etcd, component: 'etcd' }]);
  if (etcd) return etcd;

  await deletePods(scope, 'etcd-restore');
  const volumes = await deleteVolumes(scope);
  if (volumes > 0) return wait('WaitingForVolumes', `${volumes} volume claims of etcd are being deleted`);

  await deleteOwn(scope, rest);
  return (await endSecrets(scope)) ?? done();
}

interface Step {
  readonly resource: Resource;
  readonly name: string;
  readonly component: ComponentName;
}

const workersMs = 5_000;

/** Deletes the workloads, and returns an outcome while their pods still run. */
async function stop(scope: DeletionScope, steps: readonly Step[]): Promise<Outcome | undefined> {
  const { cluster, reader, writer, now } = scope;
  const pods: PodObject[] = [];
  for (const { resource, name, component } of steps) {
    const workload = reader.get(resource, name);
    if (isOfAnother(scope, workload)) continue;
    if (workload && !workload.metadata.deletionTimestamp) await writer.delete(resource, workload);
    pods.push(...reader.list<PodObject>(Pod, selectorLabels(cluster, component)));
  }
  if (pods.length === 0) return undefined;
  const what = `${pods.length} pods of ${steps.map(({ name }) => name).join(', ')} still run`;
  return waitForEnd('WaitingForPods', what, pods, now);
}

/** Deletes pods that no workload manages. A restore that has not ended uses the volumes. */
async function deletePods(scope: DeletionScope, component: ComponentName): Promise<void> {
  const pods = scope.reader.list(Pod, selectorLabels(scope.cluster, component));
  for (const pod of pods.filter((object) => isOwn(scope, object) && !object.metadata.deletionTimestamp)) {
    await scope.writer.delete(Pod, pod);
  }
}

/**
 * Deletes the volume claims that etcd of this control plane has used, unless they are retained, and counts the remaining ones.
 * What an earlier one has left stays.
 */
async function deleteVolumes(scope: DeletionScope): Promise<number> {
  const { cluster, owner, reader, writer, retainVolumes } = scope;
  if (retainVolumes || isOfAnother(scope, reader.get(StatefulSet, namesOf(cluster).etcd))) return 0;
  const claims = reader
    .list(PersistentVolumeClaim, selectorLabels(cluster, 'etcd'))
    .filter(({ metadata }) => metadata.name.startsWith(etcdVolumeClaim(cluster, 0).slice(0, -1)))
    .filter((claim) => isUsedBy(claim, owner));
  for (const claim of claims) {
    if (!claim.metadata.deletionTimestamp) await writer.delete(PersistentVolumeClaim, claim);
  }
  return claims.length;
}

/** They come first, because another control plane may use the host name as soon as they are deleted. */
const routes: readonly Resource[] = [TLSRoute, Ingress, IngressRouteTCP];

const rest: readonly Resource[] = [
  // Pods of verifications, which no workload manages.
  Pod,
  PodDisruptionBudget,
  NetworkPolicy,
  CiliumNetworkPolicy,
  Service,
  ConfigMap,
  CertificateRequest,
];

/** Deletes the objects of the operator that are of these kinds, one kind after the other. */
async function deleteOwn(scope: DeletionScope, kinds: readonly Resource[]): Promise<void> {
  for (const resource of kinds) {
    const own = ownObjects(scope, resource);
    await Promise.all(own.map((object) => scope.writer.delete(resourceOf(object), object)));
  }
}

/**
 * Deletes the Secrets of the operator. A user's own CA stays, and what retained volumes are useless without, also where the garbage
 * collector has deleted it before.
 */
async function endSecrets(scope: DeletionScope): Promise<Outcome | undefined> {
  const { cluster, owner, reader, retainVolumes, writer } = scope;
  const kept = keptSecrets(cluster);
  const waiting: string[] = [];
  for (const held of heldSecrets(cluster, reader)) {
    const { original, copy } = held;
    if (!belongsTo(held, owner.uid)) continue;
    if (!retainVolumes || !kept.includes(held.name)) {
      for (const secret of [original, copy]) if (secret) await discardSecret(writer, secret);
    } else if (copy || original?.metadata.deletionTimestamp) {
      const problem = await keepSecret(writer, held);
      if (problem !== undefined) waiting.push(problem);
    } else if (original) {
      await writer.keep(Secret, original, owner.uid);
    }
  }
  if (waiting.length > 0) return wait('WaitingForSecrets', waiting.join('; '), { afterMs: workersMs });
  const heldNames = heldSecrets(cluster, reader).map(({ name }) => name);
  const others = ownObjects(scope, Secret).filter(({ metadata }) => !heldNames.includes(metadata.name));
  await Promise.all(others.map((object) => writer.delete(Secret, object)));
  return undefined;
}

function ownObjects(scope: DeletionScope, resource: Resource): KubeObject[] {
  return scope.reader.list(resource, { [clusterNameLabel]: scope.cluster }).filter((object) => isOwn(scope, object));
}

function isOwn({ owner }: DeletionScope, object: KubeObject): boolean {
  return isControlledBy(object, owner.uid) || object.metadata.annotations?.[heldForAnnotation] === owner.uid;
}

/**
 * Names derive from the Cluster. A second HostedControlPlane with the same Cluster must not delete the etcd of the
 * first one.
 */
function isOfAnother(scope: DeletionScope, object: KubeObject | undefined): boolean {
  return object !== undefined && !isOwn(scope, object);
}
