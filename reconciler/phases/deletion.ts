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
import { clusterNameLabel } from '../../constructs/api/group.ts';
import { type ComponentName, selectorLabels } from '../../constructs/cluster/labels.ts';
import { etcdVolumeClaim, namesOf } from '../../constructs/cluster/names.ts';
import { isControlledBy, type KubeObject } from '../kube/object.ts';
import { done, type Outcome, wait } from '../engine/outcome.ts';
import type { DeletionScope } from './scope.ts';

/**
 * Takes a control plane down in the order that is fast and safe: what uses the API server, the API server, etcd, its
 * volumes, the rest. An API server whose etcd goes first sits out its whole grace period.
 * Can be stopped and started again at any point.
 */
export async function deleteControlPlane(scope: DeletionScope): Promise<Outcome> {
  const names = namesOf(scope.cluster);
  const workers = await scope.writer.workers();
  if (workers > 0) {
    return wait(
      'WaitingForWorkersDeletion',
      `${workers} Machines or MachinePools of cluster ${scope.cluster} still exist: delete the Cluster, or them, first`,
      { afterMs: workersMs },
    );
  }

  const usersOfEtcd = await stop(scope, [
    { resource: Deployment, name: names.controllerManager, component: 'controller-manager' },
    { resource: Deployment, name: names.scheduler, component: 'scheduler' },
    { resource: Deployment, name: names.apiServer, component: 'api-server' },
  ]);
  if (usersOfEtcd) return usersOfEtcd;

  const backup = scope.finalBackup();
  if (backup) return wait('WaitingForFinalBackup', backup.message, { afterMs: backup.afterMs });

  // etcd goes only when nothing that uses it runs any more.
  const etcd = await stop(scope, [{ resource: StatefulSet, name: names.etcd, component: 'etcd' }]);
  if (etcd) return etcd;

  await deletePods(scope, 'etcd-restore');
  const volumes = await deleteVolumes(scope);
  if (volumes > 0) return wait('WaitingForVolumes', `${volumes} volume claims of etcd are being deleted`);

  await deleteRest(scope);
  return done();
}

interface Step {
  readonly resource: Resource;
  readonly name: string;
  readonly component: ComponentName;
}

const workersMs = 5_000;

/** Deletes the workloads, and tells what of their pods is to be waited for. */
async function stop(scope: DeletionScope, steps: readonly Step[]): Promise<Outcome | undefined> {
  const { cluster, reader, writer } = scope;
  let pods = 0;
  for (const { resource, name, component } of steps) {
    const workload = reader.get(resource, name);
    if (isOfAnother(scope, workload)) continue;
    if (workload && !workload.metadata.deletionTimestamp) await writer.delete(resource, workload);
    pods += reader.list(Pod, selectorLabels(cluster, component)).length;
  }
  if (pods === 0) return undefined;
  return wait('WaitingForPods', `${pods} pods of ${steps.map(({ name }) => name).join(', ')} still run`);
}

/** Deletes pods that no workload of Kubernetes looks after. A restore that has not ended holds the volumes. */
async function deletePods(scope: DeletionScope, component: ComponentName): Promise<void> {
  const pods = scope.reader.list(Pod, selectorLabels(scope.cluster, component));
  for (const pod of pods.filter((object) => isOurs(scope, object) && !object.metadata.deletionTimestamp)) {
    await scope.writer.delete(Pod, pod);
  }
}

/** Deletes etcd's volume claims unless they are to be kept, and counts the ones that are left. */
async function deleteVolumes(scope: DeletionScope): Promise<number> {
  const { cluster, reader, writer, retainVolumes } = scope;
  if (retainVolumes || isOfAnother(scope, reader.get(StatefulSet, namesOf(cluster).etcd))) return 0;
  const claims = reader
    .list(PersistentVolumeClaim, selectorLabels(cluster, 'etcd'))
    .filter(({ metadata }) => metadata.name.startsWith(etcdVolumeClaim(cluster, 0).slice(0, -1)));
  for (const claim of claims) {
    if (!claim.metadata.deletionTimestamp) await writer.delete(PersistentVolumeClaim, claim);
  }
  return claims.length;
}

/** Routes go first: somebody else may take the host as soon as they are gone. */
const rest: readonly Resource[] = [
  TLSRoute,
  // of trial restores: those that nothing else looks after
  Pod,
  Ingress,
  IngressRouteTCP,
  PodDisruptionBudget,
  NetworkPolicy,
  CiliumNetworkPolicy,
  Service,
  ConfigMap,
  CertificateRequest,
  Secret,
];

/** Deletes what else we own. A user's own certificate authority is not ours and stays. */
async function deleteRest(scope: DeletionScope): Promise<void> {
  const { cluster, reader, writer } = scope;
  for (const resource of rest) {
    const ours = reader.list(resource, { [clusterNameLabel]: cluster }).filter((object) => isOurs(scope, object));
    await Promise.all(ours.map((object) => writer.delete(resourceOf(object), object)));
  }
}

function isOurs({ ownerUid }: DeletionScope, object: KubeObject): boolean {
  return isControlledBy(object, ownerUid);
}

/** Names derive from the Cluster: a second object that claims it must not take the first one's etcd along. */
function isOfAnother(scope: DeletionScope, object: KubeObject | undefined): boolean {
  return object !== undefined && !isOurs(scope, object);
}
