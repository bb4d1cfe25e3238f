import type { DeploymentObject, StatefulSetObject } from '../../../imports/kubernetes.ts';
import { Deployment, type Resource, StatefulSet } from '../../../constructs/api/resources.ts';
import { readAtStart, reloads } from '../../../constructs/control-plane/certificates/restarts.ts';
import {
  podsOf,
  type SecretRole,
  type Use,
  uses,
} from '../../../constructs/control-plane/certificates/certificate-consumers.ts';
import { restartsWith, restartsWithAnnotation } from '../../../constructs/pod/component.ts';
import type { Facts } from '../../../constructs/cluster/facts.ts';
import type { ComponentName } from '../../../constructs/cluster/labels.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { deploymentReadiness, type Readiness, statefulSetReadiness } from '../../kube/readiness.ts';
import type { ControlPlaneContext } from '../management/view.ts';

/** What rollouts are observed with. */
export interface RolloutContext extends Pick<ControlPlaneContext, 'cluster' | 'reader'> {
  readonly facts: Facts;
}

/** The uses of a Secret, by its role. */
export function usesOf(role: SecretRole): readonly Use[] {
  return Object.entries(uses).flatMap(([name, list]) => (name === role ? list : []));
}

/**
 * Components whose pods must restart before they use the current certificates of these Secrets, because they read them
 * only at start. This reports the observed state, not what this reconcile is about to apply.
 */
export function unfinishedRollouts(scope: RolloutContext, roles: readonly SecretRole[]): string[] {
  const readers = roles.flatMap(usesOf).filter((use) => !reloads(use, scope.cluster));
  const components = new Set(readers.flatMap(({ program }) => podsOf[program] ?? []));
  return [...components].flatMap((component) => {
    const readiness = rolloutOf(scope, component);
    return readiness.ready ? [] : [`${component}: ${readiness.message}`];
  });
}

function rolloutOf({ cluster, facts, reader }: RolloutContext, component: ComponentName): Readiness {
  const { resource, name } = workloadOf(cluster.name, component);
  const workload = reader.get<DeploymentObject | StatefulSetObject>(resource, name);
  const wanted = Object.entries(readAtStart(cluster, facts, component)).map((entry) =>
    restartsWith(Object.fromEntries([entry])),
  );
  const has = workload?.spec?.template?.metadata?.annotations?.[restartsWithAnnotation]?.split(',') ?? [];
  if (!wanted.every((entry) => entry !== undefined && has.includes(entry))) {
    return { ready: false, message: 'its pods are not replaced yet' };
  }
  return resource === StatefulSet ? statefulSetReadiness(workload) : deploymentReadiness(workload);
}

function workloadOf(cluster: string, component: ComponentName): { readonly resource: Resource; readonly name: string } {
  const { etcd, controllerManager, scheduler, apiServer } = namesOf(cluster);
  if (component === 'etcd') return { resource: StatefulSet, name: etcd };
  const deployments: Partial<Record<ComponentName, string>> = {
    'controller-manager': controllerManager,
    scheduler,
  };
  return { resource: Deployment, name: deployments[component] ?? apiServer };
}
