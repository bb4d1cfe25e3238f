import type { DeploymentObject, StatefulSetObject } from '../../imports/kubernetes.ts';
import { fieldManager } from '../../constructs/api/group.ts';
import { Deployment, StatefulSet } from '../../constructs/api/resources.ts';
import { managedByLabel } from '../../constructs/cluster/labels.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { conditionUpdate, notPaused } from '../engine/condition-update.ts';
import { isControlledBy } from '../kube/object.ts';
import type { ReconcileContext } from './memory.ts';

/**
 * Reports a control plane that another provider of the same group and kind has made, such as teutonet's: etcd has its
 * data in another directory there, and would start empty with the operator's template.
 * @returns whether there is one; then the operator must change nothing of it
 */
export async function reportForeignControlPlane(
  { key, object, options, memory }: ReconcileContext,
  cluster: string,
): Promise<boolean> {
  const { namespace = '', name, uid } = object.metadata;
  const { etcd, apiServer, controllerManager, scheduler } = namesOf(cluster);
  const names = [etcd, apiServer, controllerManager, scheduler];
  const reader = options.management.readerOf(namespace, cluster);
  const found = [StatefulSet, Deployment]
    .flatMap((resource) => reader.list<DeploymentObject | StatefulSetObject>(resource, {}))
    .filter((workload) => names.includes(workload.metadata.name) || isControlledBy(workload, uid))
    // The label of the pods, because another client may remove one from the workload for a moment.
    .filter(({ spec }) => spec?.template?.metadata?.labels?.[managedByLabel] !== fieldManager);
  if (found.length === 0) return false;
  const which = found.map((workload) => `${workload.kind} ${workload.metadata.name}`).join(', ');
  const message = `another provider has made ${which}, and the operator changes nothing of that control plane: leave HostedControlPlane ${name} to that provider, or move it with hcp-import cluster ${cluster}`;
  await memory.suspend(key, { keepsWork: false });
  const updates = { ...notPaused, Ready: conditionUpdate('False', 'ForeignControlPlane', message) };
  await options.statusWriter.patch(object, updates);
  return true;
}
