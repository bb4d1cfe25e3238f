import type { DeploymentObject, StatefulSetObject } from '../../../imports/kubernetes.ts';
import { Deployment, Pod } from '../../../constructs/api/resources.ts';
import { type ComponentName, selectorLabels } from '../../../constructs/cluster/labels.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import type { Reader } from '../management/view.ts';

/** All components that store or cache what the API serves: their state must not survive a return to older data. */
const components = ['api-server', 'controller-manager', 'scheduler'] as const satisfies readonly ComponentName[];

/** What runs of them. */
export interface Servers {
  /** Workloads with desired replicas. */
  readonly wanted: readonly string[];
  /** Pods that exist. */
  readonly pods: readonly string[];
}

interface Context {
  readonly cluster: { readonly name: string };
  readonly reader: Reader;
}

export function serversOf({ cluster: { name }, reader }: Context): Servers {
  const { apiServer, controllerManager, scheduler } = namesOf(name);
  const workloads = [apiServer, controllerManager, scheduler];
  return {
    wanted: workloads.filter((workload) => hasReplicas(reader.get<DeploymentObject>(Deployment, workload))),
    pods: components.flatMap((component) =>
      reader.list(Pod, selectorLabels(name, component)).map(({ metadata }) => metadata.name),
    ),
  };
}

/** The same, with pods that a controller may still create. */
export function settledServersOf(context: Context): Servers {
  const { wanted, pods } = serversOf(context);
  const { metadata, status } = apiServersOf(context) ?? {};
  // Until its controller has seen the last change, it may replace a pod that is gone.
  const isSettled = (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0) && (status?.replicas ?? 0) === 0;
  return { wanted, pods: pods.length > 0 || isSettled || !metadata ? pods : [`pods of Deployment ${metadata.name}`] };
}

/**
 * Identifies this stop of the API servers, once none can write any more; undefined before. Each time that they stop it is another
 * text.
 */
export function stopOf(context: Context): string | undefined {
  const deployment = apiServersOf(context);
  const { wanted, pods } = settledServersOf(context);
  if (!deployment || wanted.length > 0 || pods.length > 0) return undefined;
  const { uid = '', generation } = deployment.metadata;
  return `${uid}/${generation}`;
}

/** Undefined before they have ever been wanted. */
export function apiServersOf({ cluster, reader }: Context): DeploymentObject | undefined {
  return reader.get<DeploymentObject>(Deployment, namesOf(cluster.name).apiServer);
}

/** Whether a workload exists and has desired replicas. */
export function hasReplicas(workload: DeploymentObject | StatefulSetObject | undefined): boolean {
  return workload !== undefined && (workload.spec?.replicas ?? 1) > 0;
}
