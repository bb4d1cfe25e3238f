import type { ClusterObject } from '../../imports/cluster-api.ts';
import type { HostedControlPlaneObject } from '../../reconciler/clusters/management/hosted-control-plane-object.ts';
import { clusterOwner } from '../../constructs/api/group.ts';
import type { HostedControlPlaneStatus } from '../../constructs/api/status.ts';
import { parseHostedControlPlane } from '../../constructs/api/parse-manifest.ts';
import { Cluster, Deployment, HostedControlPlane, Secret } from '../../constructs/api/resources.ts';
import { type HostedCluster, networkOf } from '../../constructs/cluster/cluster.ts';
import type { Facts } from '../../constructs/cluster/facts.ts';
import { selectorLabels } from '../../constructs/cluster/labels.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { BackgroundWork, type Work } from '../../reconciler/engine/tasks/background-work.ts';
import { type Clock, systemClock } from '../../reconciler/kube/clock.ts';
import { objectsOf, type Rendered } from '../../reconciler/kube/rendering.ts';
import { openEtcd } from '../../reconciler/etcd/access.ts';
import type { EtcdLoop } from '../../reconciler/etcd/loop.ts';
import { desiredState } from '../../reconciler/desired-state/desired-state.ts';
import { recordedRevisions } from '../../reconciler/desired-state/revision/revisions.ts';
import { observeRunState } from '../../reconciler/run-state/run-state.ts';
import { settled } from '../../reconciler/etcd/steps.ts';
import type { KubeObject, ObjectMeta } from '../../reconciler/kube/object.ts';
import type { TrustProbes } from '../../reconciler/certificates/ca/trust-probes.ts';
import type { EndpointProbe } from '../../reconciler/clusters/exposure/endpoint-probes.ts';
import type { HostedClient } from '../../reconciler/clusters/hosted/hosted-client.ts';
import type { Scope } from '../../reconciler/phases/scope.ts';
import type { SharedResources } from '../../reconciler/clusters/management/view.ts';
import { releaseOf } from '../../constructs/cluster/release-revisions.ts';
import { minorOf } from '../../constructs/cluster/versions.ts';
import { observed } from '../reconciler/etcd/observed.ts';
import type { MemoryObjects } from './memory-objects.ts';
import { apiServerThat } from './api-server-answers.ts';
import { probesOf } from './trust-probes.ts';

export const namespace = 'team';
export const clusterName = 'c1';
/** Differs from the Cluster's name, as in a managed topology. */
export const hostedControlPlaneName = 'c1-x7k2p';
export const hostedControlPlaneUid = 'uid-of-the-hosted-control-plane';
export const now = new Date('2026-11-21T12:00:00Z');

/** A small valid spec. */
export const spec = {
  version: 'v1.36.3',
  replicas: 2,
  etcd: { replicas: 3 },
  exposure: { loadBalancer: {} },
} as const;

/** Objects as the API returns them. */
export type AnyObject = KubeObject & { readonly spec?: unknown; readonly status?: unknown };

/** The plain owner reference that Cluster API sets. */
export const ownedByCluster = {
  apiVersion: `${clusterOwner.group}/v1beta2`,
  kind: clusterOwner.kind,
  name: clusterName,
  uid: 'uid-of-the-cluster',
};

/** The HostedControlPlane of the sample cluster. */
export function hostedControlPlaneObject(
  changes: { readonly metadata?: Partial<ObjectMeta>; readonly spec?: unknown; readonly status?: unknown } = {},
): HostedControlPlaneObject {
  const { apiVersion, kind } = HostedControlPlane;
  const identity = { name: hostedControlPlaneName, namespace, uid: hostedControlPlaneUid, generation: 1 };
  return {
    apiVersion,
    kind,
    spec,
    ...changes,
    metadata: { ...identity, ownerReferences: [ownedByCluster], ...changes.metadata },
  } as HostedControlPlaneObject;
}

/** The Cluster that owns it. */
export function clusterObjectWith(
  changes: { readonly metadata?: Partial<ObjectMeta>; readonly spec?: ClusterObject['spec'] } = {},
): AnyObject & ClusterObject {
  const { apiVersion, kind } = Cluster;
  const controlPlaneRef = { kind: HostedControlPlane.kind, name: hostedControlPlaneName };
  return {
    apiVersion,
    kind,
    metadata: { name: clusterName, namespace, ...changes.metadata },
    spec: { controlPlaneRef, ...changes.spec },
  };
}

/** Lets an API server of the sample cluster answer. */
export function withServer(management: MemoryObjects): MemoryObjects {
  const counts = { replicas: 1, readyReplicas: 1, availableReplicas: 1, updatedReplicas: 1 };
  const { apiVersion, kind } = Deployment;
  const labels = selectorLabels(clusterName, 'api-server');
  const metadata = { name: namesOf(clusterName).apiServer, labels };
  management.put({ apiVersion, kind, metadata, spec: { replicas: 1 }, status: counts });
  return management;
}

/** The rendered sample cluster. */
export function hostedCluster(specChanges: object = {}): HostedCluster {
  return {
    name: clusterName,
    namespace,
    network: networkOf(undefined),
    spec: parsed(hostedControlPlaneObject({ spec: { ...spec, ...specChanges } })).spec,
  };
}

/** The scope of phases that need an endpoint. */
export type EstablishedScope = Scope<'endpoint' | 'konnectivityEndpoint'>;

export interface ScopeChanges {
  /** Fields of the spec that differ from the sample's. */
  readonly spec?: object;
  readonly status?: HostedControlPlaneStatus;
  /** Annotations of the HostedControlPlane. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Fields of the Cluster's spec. */
  readonly clusterSpec?: ClusterObject['spec'];
  readonly facts?: Partial<Facts>;
  readonly sharedResources?: Partial<SharedResources>;
  readonly clusterIssuers?: readonly string[];
  readonly hosted?: Partial<HostedClient>;
  readonly work?: Work;
  readonly etcdLoop?: EtcdLoop;
  readonly trustProbes?: TrustProbes;
  readonly now?: Date;
  readonly clock?: Clock;
  readonly clockFault?: string | undefined;
}

/** The scope of a phase for the sample cluster, with its endpoint unless the options leave it out. */
export function scopeOf(management: MemoryObjects, changes: ScopeChanges = {}): EstablishedScope {
  const published = management.published ? { controlPlaneEndpoint: management.published } : {};
  const object = hostedControlPlaneObject({
    spec: { ...spec, ...published, ...changes.spec },
    ...(changes.status ? { status: changes.status } : {}),
    ...(changes.annotations ? { metadata: { annotations: changes.annotations } } : {}),
  });
  const hostedControlPlane = parsed(object);
  const clusterObject = clusterObjectWith({ spec: changes.clusterSpec ?? {} });
  const etcdLoop = changes.etcdLoop ?? settledEtcd;
  const desired = desiredState({
    object,
    usable: {
      hostedControlPlane,
      release: { release: releaseOf(minorOf(hostedControlPlane.spec.version)) },
      recorded: recordedRevisions(management, hostedControlPlane, clusterName),
    },
    clusterObject,
    reader: management,
    platform: {},
    etcdReport: etcdLoop.report(),
    now: changes.now ?? now,
  });
  return {
    ...desired,
    clusterObject,
    runState: observeRunState({ ...desired, reader: management }),
    managementIssuer: undefined,
    clusterIssuers: changes.clusterIssuers ?? [],
    facts: {
      certificates: {},
      mounts: {},
      operatorImage: 'registry.example.org/operator:v1',
      owner: { name: hostedControlPlaneName, uid: hostedControlPlaneUid },
      ...changes.facts,
      // As in the real list of phases: a phase that runs without the endpoint does not read it.
    } as EstablishedScope['facts'],
    reader: management,
    sharedResources: { ...plainSharedResources, heldHosts: () => management.hosts, ...changes.sharedResources },
    writer: management,
    hosted: () => ({ ...workingHostedCluster, ...changes.hosted }),
    endpointProbe: tryingAlways,
    tunnelProbe: tryingAlways,
    agentsProbe: tryingAlways,
    podsProbe: () => tryingAlways,
    hasAgent: async () => true,
    trustProbes: changes.trustProbes ?? probesOf(management),
    etcdLoop,
    work: changes.work ?? new BackgroundWork({ clock: systemClock, onChange: () => {} }).of(hostedControlPlaneName),
    openEtcd,
    clock: changes.clock ?? systemClock,
    takesRefusals: false,
    storeReader: {
      secret: ({ name }) => management.read(Secret, name),
      serviceAccountToken: async (name) => `token of ${name}`,
    },
    now: changes.now ?? now,
    clockFault: changes.clockFault,
  };
}

/** Members that are in the requested state at once. */
const settledEtcd: EtcdLoop = {
  report: () => undefined,
  observe: async ({ goal }) => ({ observation: observed(goal.replicas), decision: settled, isCurrent: true }),
  stop: async () => {},
};

/** Tries every time, and waits for the end. */
const tryingAlways: EndpointProbe = {
  probe: (_, attempt) =>
    attempt().then(
      () => ({ kind: 'works' }),
      (error: unknown) => ({ kind: 'fails', error }),
    ),
};

/** A management cluster without any optional API. */
const plainSharedResources: SharedResources = {
  servedVersions: () => [],
  gateway: () => undefined,
  namespaceLabels: () => ({}),
  deniedNetworks: () => [],
  hostOwner: () => undefined,
  heldHosts: () => [],
  seesEveryClaim: true,
};

/** A hosted cluster in which everything works, and which has no workers yet. */
const workingHostedCluster: HostedClient = {
  apply: async <T>(rendered: Rendered) => [...objectsOf(rendered)] as T[],
  prune: async () => {},
  watch: () => {},
  hasListed: async () => true,
  nodes: () => 0,
  nodeMetadata: () => [],
  annotateNode: async () => {},
  watchProblem: () => undefined,
  certificateRequests: () => [],
  node: async () => undefined,
  nodeReports: async () => [],
  approve: async () => {},
  controllersWork: () => true,
  readyThroughEndpoint: async () => {},
  asAdministrator: (work) => work(apiServerThat({})),
  at: (_address, _identity, work) => work(apiServerThat({})),
};

function parsed(object: AnyObject) {
  const result = parseHostedControlPlane(object);
  if (!result.valid) throw new Error(result.message);
  return result.hostedControlPlane;
}
