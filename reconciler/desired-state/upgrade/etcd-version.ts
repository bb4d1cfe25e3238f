import type { ConditionType } from '../../../constructs/api/conditions.ts';
import { releaseRevisionAnnotation } from '../../../constructs/api/group.ts';
import type { HostedControlPlane } from '../../../constructs/api/hosted-control-plane.ts';
import { StatefulSet } from '../../../constructs/api/resources.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { etcdVersion, etcdVersionIn, minorOf, tagOf } from '../../../constructs/cluster/versions.ts';
import { awaitedBackup } from './backup-before-upgrade.ts';
import type { HostedCluster } from '../../../constructs/cluster/cluster.ts';
import type { EtcdReport } from '../../etcd/report.ts';
import type { Reader } from '../../clusters/management/view.ts';
import { renderedEtcdImage, type VersionContext } from './version-change.ts';
import { planVersion } from './version-rules.ts';
import { hasNewData } from './way-back.ts';

/** The version of etcd to render. */
export interface VersionChoice {
  readonly version: string;
  /** The present image, which stays instead of the user's own image of another version. */
  readonly image?: string | undefined;
  /** Why it differs from the version that the spec requests. */
  readonly problem?: { readonly reason: 'VersionNotAllowed' | 'WaitingForBackup'; readonly message: string };
  /** The present release revision, which stays as long as the version waits. */
  readonly releaseRevision?: number | undefined;
  /** Why it differs for now, in the usual course of an upgrade. */
  readonly note?: string;
}

interface EtcdVersionInput extends VersionContext {
  /** With the version of Kubernetes that may run. */
  readonly cluster: HostedCluster;
  /** The last observation of etcd; undefined before the first one. */
  readonly etcdReport: EtcdReport | undefined;
}

/**
 * Chooses the version of etcd to run, from the versions that its members report. A change of the minor version waits
 * for its backup, and one that comes with a minor version of Kubernetes for everything else of that upgrade. API servers
 * never wait for etcd: they work with etcd of both minors, and an unhealthy member must not block them.
 */
export function versionToRun(scope: EtcdVersionInput): VersionChoice {
  const { cluster, reader, etcdReport } = scope;
  const observation = etcdReport?.observation;
  const members = observation?.members.filter(({ registration }) => registration) ?? [];
  const image = renderedEtcdImage(scope);
  const rendered = etcdVersionIn(tagOf(image));
  const tagged = etcdVersionIn(cluster.spec.etcd.image?.tag);
  const requested = etcdVersion(cluster);
  if (rendered !== undefined && minorOf(requested) < minorOf(rendered) && hasNewData(scope)) {
    return { version: requested };
  }
  if (rendered !== undefined && rendered !== requested) {
    const note = awaitedKubernetes(`${rendered} to ${requested}`, scope.hostedControlPlane);
    if (note !== undefined) return { version: rendered, note, releaseRevision: presentRevision(cluster.name, reader) };
  }
  const plan = planVersion({
    running: members.map(({ status }) => status?.version),
    clusterVersion: observation?.clusterVersion,
    rendered,
    wanted: requested,
    field: tagged === undefined ? 'etcd.version' : 'etcd.image.tag',
    args: cluster.spec.etcd.args,
  });
  const choice = (version: string): VersionChoice =>
    tagged === undefined || version === tagged ? { version } : { version, image };
  if (plan.kind === 'refused') {
    return { ...choice(plan.version), problem: { reason: 'VersionNotAllowed', message: plan.message } };
  }
  const awaited = plan.changesMinor ? awaitedBackup('etcd', scope) : undefined;
  if (!awaited) return choice(plan.version);
  return { ...choice(rendered ?? plan.version), problem: { reason: 'WaitingForBackup', message: awaited } };
}

/** The release revision of the StatefulSet; the first one for those of operators before there was a second one. */
function presentRevision(cluster: string, reader: Reader): number {
  const set = reader.get(StatefulSet, namesOf(cluster).etcd);
  return Number(set?.metadata.annotations?.[releaseRevisionAnnotation] ?? 1);
}

/** What an upgrade of Kubernetes changes after the API servers, and before etcd. */
const componentsAfterAPIServers: readonly ConditionType[] = [
  'ControllerManagerReady',
  'SchedulerReady',
  'WorkloadKubeProxyReady',
  'WorkloadCoreDNSReady',
  'WorkloadKonnectivityReady',
];

/**
 * Why etcd keeps its version while Kubernetes gets a new minor version, as a sentence; undefined when nothing of Kubernetes is
 * left to do. etcd has no way back from a new minor but a restore, so it is last: until then the old binaries still work.
 * A version of etcd that the spec names does not wait.
 * @param change of etcd, such as `3.6.8 to 3.7.0`
 */
export function awaitedKubernetes(
  change: string,
  { spec, status }: Pick<HostedControlPlane, 'spec' | 'status'>,
): string | undefined {
  if (spec.etcd.version !== undefined || spec.etcd.image?.tag !== undefined) return undefined;
  const left = unfinished({ spec, status });
  if (left === undefined) return undefined;
  return `the change of etcd ${change} is the last step of an upgrade of Kubernetes, because only a restore takes it back: it waits for ${left}`;
}

function unfinished({ spec, status }: Pick<HostedControlPlane, 'spec' | 'status'>): string | undefined {
  const { version, conditions = [] } = status ?? {};
  if (version === undefined || minorOf(version) !== minorOf(spec.version)) return `API servers ${spec.version}`;
  const waiting = componentsAfterAPIServers.filter((type) =>
    conditions.some((condition) => condition.type === type && condition.status !== 'True'),
  );
  return waiting.length > 0 ? `the condition ${waiting.join(', ')}` : undefined;
}
