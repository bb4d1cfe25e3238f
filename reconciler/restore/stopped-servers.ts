import { Deployment } from '../../constructs/api/resources.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import type { DeploymentObject } from '../kube/readiness.ts';
import type { ControlPlaneContext } from '../management/view.ts';
import { observeRestore } from './observe.ts';

type Context = Pick<ControlPlaneContext, 'cluster' | 'reader'>;

/** What runs that stores or caches what the API serves. */
export interface Servers {
  /** Workloads with desired replicas. */
  readonly wanted: readonly string[];
  /** Pods that exist, or that a controller may still create. */
  readonly pods: readonly string[];
}

export function serversOf(context: Context): Servers {
  const { cluster, reader } = context;
  const { wanted, pods } = observeRestore({ cluster, members: 0, reader }).servers;
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
  const { wanted, pods } = serversOf(context);
  if (!deployment || wanted.length > 0 || pods.length > 0) return undefined;
  const { uid = '', generation } = deployment.metadata;
  return `${uid}/${generation}`;
}

/** Undefined before they have ever been wanted. */
export function apiServersOf({ cluster, reader }: Context): DeploymentObject | undefined {
  return reader.get<DeploymentObject>(Deployment, namesOf(cluster.name).apiServer);
}
