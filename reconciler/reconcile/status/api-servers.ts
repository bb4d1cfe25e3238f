import type { DeploymentObject, PodObject } from '../../../imports/kubernetes.ts';
import { parseVersion } from '../../../constructs/cluster/versions.ts';
import { versionAnnotation } from '../../../constructs/pod/component.ts';
import { type ConditionUpdates, conditionUpdate } from '../../engine/condition-update.ts';
import { hasEnded, isReady } from '../../kube/readiness.ts';

/** The API servers as observed, and what the spec asks for. */
export interface APIServers extends Observed {
  readonly spec: { readonly version: string; readonly replicas: number };
}

interface Observed {
  readonly spec: { readonly version: string };
  readonly apiServer: DeploymentObject | undefined;
  readonly apiServerPods: readonly PodObject[];
}

type Counts = Readonly<Record<'replicas' | 'readyReplicas' | 'availableReplicas' | 'upToDateReplicas', number>>;

/** The counters of the status. Cluster API treats a missing one as unknown, so that they are numbers from the beginning. */
export function countsOf(observed: Observed): Counts {
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = observed.apiServer?.status ?? {};
  return { replicas, readyReplicas, availableReplicas, upToDateReplicas: upToDate(observed) };
}

/** Number of API servers that match the spec: none before its version is rendered, which may wait for a backup. */
function upToDate({ spec, apiServer, apiServerPods }: Observed): number {
  const rendered = apiServer?.spec?.template?.metadata?.annotations?.[versionAnnotation] ?? spec.version;
  if (rendered !== spec.version) return 0;
  const { updatedReplicas = 0 } = apiServer?.status ?? {};
  if (isCounted(apiServer)) return updatedReplicas;
  // The count is that of the template before.
  const ofVersion = apiServerPods.filter(({ metadata }) => metadata.annotations?.[versionAnnotation] === spec.version);
  return Math.min(updatedReplicas, ofVersion.length);
}

/** Whether the controller has counted by the newest template and number. */
function isCounted(apiServer: DeploymentObject | undefined): boolean {
  return (apiServer?.status?.observedGeneration ?? 0) >= (apiServer?.metadata.generation ?? 0);
}

/**
 * Number of API servers by version, oldest first. One of another version than the spec counts until it is gone, ready or
 * not: it may serve again, and Cluster API starts newer workers as soon as no older one is reported.
 */
export function versionsOf({
  apiServerPods,
  spec,
}: Pick<Observed, 'spec' | 'apiServerPods'>): { version: string; replicas: number }[] {
  const counts = new Map<string, number>();
  for (const pod of apiServerPods) {
    const version = pod.metadata.annotations?.[versionAnnotation];
    if (!version || hasEnded(pod)) continue;
    if (version !== spec.version || isReady(pod)) counts.set(version, (counts.get(version) ?? 0) + 1);
  }
  return [...counts].map(([version, replicas]) => ({ version, replicas })).sort(byVersion);
}

/** Cluster API orders builds of one version too, and fails on a list in another order. */
function byVersion(one: { readonly version: string }, other: { readonly version: string }): number {
  const [a, b] = [parseVersion(one.version), parseVersion(other.version)];
  if (!a || !b) return Number(Boolean(a)) - Number(Boolean(b));
  return a.compare(b) || a.compareBuild(b);
}

/**
 * The conditions about the number of API servers and their rollout.
 * @param isAsleep whether hibernation stops them, which Cluster API must not take for a change that ends without a user
 */
export function scaling(observed: APIServers, isAsleep = false): ConditionUpdates {
  const { apiServer, spec } = observed;
  const { replicas, upToDateReplicas } = countsOf(observed);
  const outdated = upToDateReplicas < replicas;
  // A Deployment does not count pods that terminate, but they still answer.
  const others = versionsOf(observed).filter(({ version }) => version !== spec.version);
  const rolling = !isAsleep && apiServer !== undefined && (!isCounted(apiServer) || outdated || others.length > 0);
  // The surge pod of a rollout does not count as scaling.
  const up = !isAsleep && replicas < spec.replicas;
  const down = !outdated && replicas > spec.replicas;
  const left = others.map((other) => `, ${other.replicas} of ${other.version} not gone yet`).join('');
  return {
    RollingOut: rolling
      ? conditionUpdate(
          'True',
          'RollingOut',
          `${upToDateReplicas} of ${spec.replicas} API servers are up to date${left}`,
        )
      : conditionUpdate('False', 'NotRollingOut'),
    ScalingUp: up
      ? conditionUpdate('True', 'ScalingUp', `scaling up from ${replicas} to ${spec.replicas} API servers`)
      : conditionUpdate('False', 'NotScalingUp'),
    ScalingDown: down
      ? conditionUpdate('True', 'ScalingDown', `scaling down from ${replicas} to ${spec.replicas} API servers`)
      : conditionUpdate('False', 'NotScalingDown'),
  };
}
