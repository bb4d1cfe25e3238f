import type { DeploymentObject, PodObject } from '../../../imports/kubernetes.ts';
import { Deployment, Pod } from '../../../constructs/api/resources.ts';
import type { HostedCluster } from '../../../constructs/cluster/cluster.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { parseVersion } from '../../../constructs/cluster/versions.ts';
import { binariesAnnotation, versionAnnotation } from '../../../constructs/pod/component.ts';
import { degraded, done, type Done, type Degraded, type Wait, wait } from '../../engine/outcome.ts';
import { deploymentReadiness, hasEnded } from '../../kube/readiness.ts';
import type { ControlPlaneContext } from '../../clusters/management/view.ts';
import type { RecordedRevisions } from '../revision/believed.ts';
import type { UpgradeStep } from './emulation.ts';

type Context = Pick<ControlPlaneContext, 'cluster' | 'reader'>;

/** Whether an API server answers, by what its Deployment says. */
export function hasServer(deployment: DeploymentObject | undefined): boolean {
  const { spec, status } = deployment ?? {};
  return deployment !== undefined && (spec?.replicas ?? 1) > 0 && (status?.availableReplicas ?? 0) > 0;
}

/** For phases that need an API server which answers, and do not mind the others. Undefined if there is one. */
export function awaitedServer(context: Context): Wait | undefined {
  return hasServer(apiServersOf(context)) ? undefined : wait('WaitingForOtherPhases', waiting);
}

const waiting = 'waiting for APIServerDeploymentsReady';

/**
 * API servers with another version than the cluster. The Deployment does not count pods that terminate, but they still answer: a
 * newer controller manager must not reach them.
 */
export function serversOfOtherVersions({ cluster, reader }: Context): PodObject[] {
  return reader.list<PodObject>(Pod, selectorLabels(cluster.name, 'api-server')).filter((pod) => {
    const { [versionAnnotation]: version, [binariesAnnotation]: binaries } = pod.metadata.annotations ?? {};
    return !hasEnded(pod) && (version !== cluster.spec.version || binaries !== cluster.binaries);
  });
}

/** Whether all API servers run what the cluster asks for, so that everything else may follow them to its version. */
export function areServersRolledOut(context: Context): boolean {
  return deploymentReadiness(apiServersOf(context)).ready && serversOfOtherVersions(context).length === 0;
}

/**
 * The cluster as everything is rendered that must not be newer than any API server: controllers, add-ons and what joining nodes
 * read. Until all API servers have the version of the cluster, these keep their version, and the operator still reconciles them.
 */
export function clusterOfFollowers(context: Context & { readonly recorded: RecordedRevisions }): HostedCluster {
  const { cluster, recorded, reader } = context;
  if (areServersRolledOut(context)) return cluster;
  const { controllerManager } = namesOf(cluster.name);
  const deployment = reader.get<DeploymentObject>(Deployment, controllerManager);
  const present = [deployment?.spec?.template?.metadata, ...serversOfOtherVersions(context).map((pod) => pod.metadata)];
  const steps = present.flatMap((metadata) => stepIn(metadata?.annotations) ?? []);
  const oldest = steps.toSorted(byAge)[0];
  const wanted = { version: cluster.spec.version, binaries: cluster.binaries };
  if (oldest === undefined || byAge(oldest, wanted) >= 0) return cluster;
  const { version, binaries } = oldest;
  const { binaries: _, ...rest } = cluster;
  const release = version === cluster.spec.version ? cluster.release : (recorded.served?.release ?? cluster.release);
  return { ...rest, spec: { ...cluster.spec, version }, release, ...(binaries === undefined ? {} : { binaries }) };
}

/** The outcome of a phase whose objects are applied and work, and which may have to keep its version for now. */
export function followed(held: HostedCluster, { cluster }: Pick<Context, 'cluster'>): Done | Degraded {
  if (held === cluster) return done();
  const kept = held.binaries ?? held.spec.version;
  return degraded('WaitingForOtherPhases', `${waiting}, and keeps version ${kept} until then`);
}

function apiServersOf({ cluster, reader }: Context): DeploymentObject | undefined {
  return reader.get<DeploymentObject>(Deployment, namesOf(cluster.name).apiServer);
}

function stepIn(annotations: Readonly<Record<string, string>> | undefined): UpgradeStep | undefined {
  const { [versionAnnotation]: version, [binariesAnnotation]: binaries } = annotations ?? {};
  return version === undefined ? undefined : { version, binaries };
}

function byAge(one: UpgradeStep, other: UpgradeStep): number {
  return compared(one.version, other.version) || compared(one.binaries ?? one.version, other.binaries ?? other.version);
}

function compared(one: string, other: string): number {
  const [a, b] = [parseVersion(one), parseVersion(other)];
  return a && b ? a.compare(b) : 0;
}
