import type { IngressObject, ServiceObject } from '../../imports/kubernetes.ts';
import { Ingress, IngressRouteTCP, Service } from '../../constructs/api/resources.ts';
import type { HostedCluster } from '../../constructs/cluster/cluster.ts';
import { keepingProxies } from '../../constructs/cluster/in-cluster-access.ts';
import { type ManagementIssuer, withManagementIssuer } from '../../constructs/cluster/management-issuer.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { defaultPlatformLists, type PlatformLists } from '../../constructs/cluster/platform-lists.ts';
import { etcdVersion as etcdVersionOf, minorOf } from '../../constructs/cluster/versions.ts';
import {
  type LiveExposure,
  withinPlatformLists,
} from '../../constructs/control-plane/exposure/within-platform-lists.ts';
import { holdsNewest } from './api-server/held-configuration.ts';
import type { EtcdReport } from '../etcd/report.ts';
import type { KubeObject } from '../kube/object.ts';
import type { ClusterObject } from '../../imports/cluster-api.ts';
import type { Reader } from '../clusters/management/view.ts';
import { observeNetwork } from '../clusters/management/network-in-use.ts';
import { type VersionChoice, versionToRun } from './upgrade/etcd-version.ts';
import { clusterOfFollowers } from './upgrade/followers.ts';
import { type Lived, observeLived } from './upgrade/lived.ts';
import { skipsConfiguration } from './upgrade/preflight/configuration.ts';
import type { HeldField } from './held-field.ts';
import { decideVersion } from './kubernetes-version.ts';
import { lastAccepted, type UsableSpec } from './usable-spec.ts';

/** What one reconcile brings about: it is decided once, before the first phase. */
export interface DesiredState extends UsableSpec {
  /** By the newest usable spec. A kube-apiserver may still check its configuration, or have refused it. */
  readonly requested: HostedCluster;
  /** By the spec of {@link hostedControlPlane}: {@link requested}, or the last accepted one. */
  readonly accepted: HostedCluster;
  /** {@link accepted} as it is rendered now, with the version that may run. */
  readonly cluster: HostedCluster;
  /** The same for all that must not be newer than any API server: controllers, add-ons, and what joining nodes read. */
  readonly followers: HostedCluster;
  /** The same for data that a restore brings: with the version of the spec where only a restore takes the version back. */
  readonly restored: HostedCluster;
  readonly lived: Lived;
  readonly etcdVersion: VersionChoice;
  /** What of the newest spec is not applied, and why. */
  readonly held: readonly HeldField[];
}

interface DesiredInput {
  /** As it is stored. */
  readonly object: KubeObject;
  readonly usable: UsableSpec;
  readonly clusterObject: ClusterObject;
  readonly reader: Reader;
  /** What the platform has set for all control planes. */
  readonly platform: {
    readonly managementIssuer?: ManagementIssuer | undefined;
    /** @default {@link defaultPlatformLists} */
    readonly platformLists?: PlatformLists | undefined;
  };
  /** The last observation of etcd; undefined before the first one. */
  readonly etcdReport: EtcdReport | undefined;
  readonly now: Date;
}

type Overlay = (state: DesiredState, input: DesiredInput) => DesiredState;

/** Each sees what the ones before it have left. */
const overlays: readonly Overlay[] = [
  refusedSpec,
  uncheckedConfiguration,
  platformLists,
  versionOfKubernetes,
  versionOfEtcd,
  versionOfFollowers,
];

/** Which spec is reconciled by which release, in which versions, and what of the newest spec is held back. */
export function desiredState(input: DesiredInput): DesiredState {
  const { usable, etcdReport, reader } = input;
  const requested = clusterOf(usable, input);
  const etcdVersion = { version: '' };
  const newest = {
    ...usable,
    requested,
    accepted: requested,
    cluster: requested,
    followers: requested,
    restored: requested,
    lived: observeLived({ ...usable, cluster: requested, reader }, etcdReport),
    etcdVersion,
    held: [],
  };
  return overlays.reduce<DesiredState>((state, overlay) => overlay(state, input), newest);
}

/** The cluster that a spec describes, including choices that its status has fixed, or the platform has made. */
function clusterOf(
  { hostedControlPlane, release: { release } }: UsableSpec,
  { clusterObject, platform, reader }: DesiredInput,
): HostedCluster {
  const { metadata, spec, status } = hostedControlPlane;
  const { managementIssuer, platformLists = defaultPlatformLists } = platform;
  const cluster = {
    name: clusterObject.metadata.name,
    namespace: metadata.namespace,
    network: observeNetwork({ hostedControlPlane, clusterObject, reader }),
    spec: keepingProxies(spec, status?.inClusterAccess),
    release,
  };
  return withinPlatformLists(
    withManagementIssuer(cluster, managementIssuer),
    platformLists,
    liveExposure(reader, cluster),
  );
}

/** Annotations and class of the object that leads to the API servers: what they are, an operator before may have allowed. */
function liveExposure(reader: Reader, { name, spec }: HostedCluster): LiveExposure {
  const names = namesOf(name);
  const ingress = spec.exposure?.ingress;
  if (ingress === undefined) {
    const service = reader.get<ServiceObject>(Service, names.apiService);
    return { annotations: service?.metadata.annotations, className: service?.spec?.loadBalancerClass };
  }
  const resource = ingress.controller === 'traefik' ? IngressRouteTCP : Ingress;
  const route = reader.get<IngressObject>(resource, names.routes.api);
  return { annotations: route?.metadata.annotations, className: route?.spec?.ingressClassName };
}

/** The last usable spec is reconciled instead, for the whole of it. */
function refusedSpec(state: DesiredState): DesiredState {
  const { refusal } = state;
  return refusal ? holding(state, { field: 'spec', reason: refusal.reason, because: refusal.message }) : state;
}

/**
 * The last accepted spec, while a kube-apiserver has not accepted the configuration of the newest one. The newest one stays when it
 * is refused anyway, or when there is no other spec.
 */
function uncheckedConfiguration(state: DesiredState, input: DesiredInput): DesiredState {
  const { object, reader } = input;
  const { hostedControlPlane, recorded, refusal, requested, lived } = state;
  const last = lastAccepted(object, recorded);
  if (refusal !== undefined || last === undefined) return state;
  const isSkipped = skipsConfiguration({ requested, hostedControlPlane, reader, lived });
  const accepted = clusterOf(last, input);
  if (!holdsNewest(requested, accepted, reader, isSkipped)) return state;
  const because = `kube-apiserver ${requested.spec.version} has not accepted flags, token issuers and audit settings: see the condition APIServerConfigurationAccepted`;
  const held = { ...state, ...last, accepted, cluster: accepted, followers: accepted };
  return holding(held, { field: 'spec', reason: 'CheckingConfiguration', because });
}

function platformLists(state: DesiredState): DesiredState {
  const { refusals = [] } = state.accepted;
  return holding(state, ...refusals.map((refusal) => ({ ...refusal, reason: 'Overruled' as const })));
}

function versionOfKubernetes(state: DesiredState, { reader, now }: DesiredInput): DesiredState {
  const { cluster, held } = decideVersion({ ...state, reader, now });
  const isAhead = minorOf(cluster.spec.version) > minorOf(state.accepted.spec.version);
  return holding({ ...state, cluster, followers: cluster, restored: isAhead ? state.accepted : cluster }, held);
}

function versionOfEtcd(state: DesiredState, { reader, etcdReport }: DesiredInput): DesiredState {
  const etcdVersion = versionToRun({ ...state, reader, etcdReport });
  const { problem, note, version } = etcdVersion;
  const wanted = etcdVersionOf(state.cluster);
  const step = `etcd keeps ${version} until all of its members answer and run it, one version after the other: see the condition EtcdClusterReady`;
  const because = problem?.message ?? note ?? (version === wanted ? undefined : step);
  const reason = problem?.reason ?? 'WaitingForOtherPhases';
  return holding(
    { ...state, etcdVersion },
    because === undefined ? undefined : { field: 'etcd.version', reason, because },
  );
}

function versionOfFollowers(state: DesiredState, { reader }: DesiredInput): DesiredState {
  const { cluster } = state;
  const followers = clusterOfFollowers({ ...state, reader });
  if (followers === cluster) return state;
  const because = `controllers and add-ons keep ${followers.binaries ?? followers.spec.version} until all API servers run ${cluster.binaries ?? cluster.spec.version}: see the condition APIServerDeploymentsReady`;
  return holding({ ...state, followers }, { field: 'version', reason: 'WaitingForOtherPhases', because });
}

function holding(state: DesiredState, ...more: readonly (HeldField | undefined)[]): DesiredState {
  const fields = more.filter((field) => field !== undefined);
  return fields.length === 0 ? state : { ...state, held: [...state.held, ...fields] };
}

/** Whether the newest spec is reconciled, and no earlier one instead. */
export function hasNewest({
  refusal,
  requested,
  accepted,
}: Pick<DesiredState, 'refusal' | 'requested' | 'accepted'>): boolean {
  return refusal === undefined && requested === accepted;
}

/** The sentence about a field that waits for this reason; undefined if none does. */
export function heldBy(
  { held }: Pick<DesiredState, 'held'>,
  field: string,
  ...reasons: readonly HeldField['reason'][]
): HeldField | undefined {
  return held.find((one) => one.field === field && reasons.includes(one.reason));
}
