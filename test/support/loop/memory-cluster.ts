import {
  Cluster,
  CustomResourceDefinition,
  DaemonSet,
  definitionName,
  Deployment,
  HostedControlPlane,
  HostedControlPlaneComponentTemplate,
  Machine,
  MachinePool,
  PersistentVolumeClaim,
  Pod,
  type Resource,
  ServiceAccount,
  versionOf,
} from '../../../constructs/api/resources.ts';
import * as clusterApi from '../../../imports/cluster.x-k8s.io.ts';
import { definedOnly } from '../../../constructs/cluster/defined-only.ts';
import { clusterNameLabel } from '../../../constructs/api/group.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { KubeError } from '../../../reconciler/kube/errors.ts';
import type { KubeObject, ObjectName } from '../../../reconciler/kube/object.ts';
import { firstServiceAccount } from '../../../reconciler/clusters/hosted/informers.ts';
import type { Condition } from '../../../constructs/api/status.ts';
import { isAway, loadBalancerAddress, settle, startsNever } from '../management-controllers.ts';
import { ManualClock } from '../manual-clock.ts';
import { MemoryApiServer } from '../memory-cluster/api-server.ts';
import { MemoryClient } from '../memory-cluster/client.ts';
import { administrator } from '../memory-cluster/users.ts';
import { NamespaceObjects } from '../memory-cluster/controlled-objects.ts';
import { runControllers } from '../memory-cluster/controllers/controllers.ts';
import type { StoredObject } from '../memory-objects.ts';
import { clusterName, hostedControlPlaneName, namespace, spec } from '../scope.ts';
import { MemoryEtcd } from './memory-etcd.ts';
import { installRights } from './shipped-rights.ts';
import { UsedRights } from './used-rights.ts';

/** Field manager of every client that is not the operator. */
const somebody = { fieldManager: 'somebody' };

/**
 * Everything outside the operator: the API server of a management cluster with what Kubernetes' controllers do there, one
 * hosted cluster, and its etcd. It outlives every operator process.
 */
export class MemoryCluster {
  readonly clock: ManualClock;
  readonly management: MemoryApiServer;
  /** The API of the hosted cluster; empty again once etcd has lost its volumes. */
  hosted: MemoryApiServer;
  readonly etcd: MemoryEtcd;
  /** What operators have done here. */
  readonly used = new UsedRights();
  /** What operators have done in the hosted cluster, not as administrators. */
  readonly usedInHosted = new UsedRights();
  /** The client of users, Cluster API and all others that write to the management cluster. */
  readonly user: MemoryClient;
  /** The image that operator processes know as their own. */
  operatorImage: string | undefined = 'example.org/operator:test';
  /** The newest release revision of operator processes; undefined for that of this operator. */
  newestRevision: number | undefined;
  /** The only namespace of the installed operator; undefined for all. Set before {@link install}. */
  watchNamespace: string | undefined;
  /** Text in the template of pods that do not start; undefined for that of a missing image. */
  startsNot: string | undefined;
  /** The member of etcd for whose probes no node has room; undefined for none. */
  unplaced: string | undefined;

  /** The workloads of the management cluster whose pods were refused; undefined where their controllers try again at once. */
  inBackOff: Map<string, { readonly of: string; readonly refusal: string }> | undefined;
  /** Addresses of API servers that no konnectivity agent has reached. */
  readonly withoutAgent = new Set<string>();
  /** Whether the host of the endpoint leads to no API server, which runs and is reached from within. */
  endpointLeadsNowhere = false;
  /** Other control planes in the same management cluster. */
  neighbours: readonly MemoryCluster[] = [];
  readonly place: Place;

  constructor(
    clock: ManualClock,
    management?: MemoryApiServer,
    hosted?: MemoryApiServer,
    etcd = new MemoryEtcd(),
    place: Place = samplePlace,
  ) {
    this.clock = clock;
    this.etcd = etcd;
    this.place = place;
    // The clocks of API servers are right, whatever the operator's says.
    this.management = management ?? new MemoryApiServer(() => clock.elapsed());
    this.hosted = hosted ?? emptyHostedCluster(clock);
    this.user = new MemoryClient(this.management, administrator('somebody'));
  }

  /** A copy at the same time and in the same state, which then changes independently. */
  copy(): MemoryCluster {
    const clock = new ManualClock(this.clock.elapsed());
    clock.setTime(this.clock.now() - this.clock.elapsed());
    const management = this.management.copy(() => clock.elapsed());
    const copy = this.#copyIn(clock, management);
    copy.neighbours = this.neighbours.map((neighbour) => neighbour.#copyIn(clock, management));
    return copy;
  }

  /** A copy of what is outside the management cluster. */
  #copyIn(clock: ManualClock, management: MemoryApiServer): MemoryCluster {
    const hosted = this.hosted.copy(() => clock.elapsed());
    const copy = new MemoryCluster(clock, management, hosted, this.etcd.copy(), this.place);
    copy.watchNamespace = this.watchNamespace;
    copy.newestRevision = this.newestRevision;
    return copy;
  }

  /** This control plane and its neighbours. */
  get all(): readonly MemoryCluster[] {
    return [this, ...this.neighbours];
  }

  /** Grows with every change by any client. */
  get version(): number {
    return this.all.reduce((sum, { hosted }) => sum + hosted.store.version, this.management.store.version);
  }

  /** Installs what a management cluster has before any control plane. */
  async install(): Promise<void> {
    await this.user.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: this.place.namespace } }, somebody);
    installRights(this.management, definedOnly({ watchNamespace: this.watchNamespace }));
    const kinds = [Cluster, Machine, MachinePool, HostedControlPlane, HostedControlPlaneComponentTemplate];
    for (const resource of kinds) await this.define(resource);
  }

  /** Installs a custom resource. */
  async define(resource: Resource): Promise<void> {
    const { apiVersion, kind } = CustomResourceDefinition;
    const versions = [{ name: versionOf(resource), served: true, storage: true, subresources: { status: {} } }];
    const object = { apiVersion, kind, metadata: { name: definitionName(resource) }, spec: { versions } };
    await this.user.create(object, somebody);
    const status = { conditions: [{ type: 'Established', status: 'True' }] };
    await this.user.mergePatch(
      CustomResourceDefinition,
      object.metadata,
      { status },
      { ...somebody, subresource: 'status' },
    );
  }

  /** Creates the sample Cluster and its HostedControlPlane, as a user and Cluster API do. */
  async order(changes: object = {}, annotations: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.orderControlPlane(await this.#createCluster(), changes, annotations);
  }

  /** Creates the Cluster of a HostedControlPlane that has lost its own, which Cluster API makes its owner. */
  async orderClusterOf({ metadata }: KubeObject): Promise<void> {
    const ownerReferences = [ownerReferenceTo(await this.#createCluster())];
    await this.user.mergePatch(HostedControlPlane, metadata, { metadata: { ownerReferences } }, somebody);
  }

  #createCluster(): Promise<KubeObject> {
    const { cluster: name, namespace } = this.place;
    const controlPlaneRef = { apiGroup: 'x', kind: HostedControlPlane.kind, name: this.name.name };
    const cluster = clusterApi.Cluster.manifest({ metadata: { name, namespace }, spec: { controlPlaneRef } });
    return this.user.create<KubeObject>(cluster, somebody);
  }

  /** Creates the HostedControlPlane of a Cluster. */
  async orderControlPlane(
    cluster: KubeObject,
    changes: object = {},
    annotations: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    await this.user.create(
      {
        apiVersion: HostedControlPlane.apiVersion,
        kind: HostedControlPlane.kind,
        metadata: { ...this.name, annotations, ownerReferences: [ownerReferenceTo(cluster)] },
        spec: { ...spec, ...changes },
      },
      somebody,
    );
  }

  /** Changes fields of the HostedControlPlane's spec, as a user does. */
  async change(spec: object): Promise<void> {
    await this.user.mergePatch(HostedControlPlane, this.name, { spec }, somebody);
  }

  get objects(): NamespaceObjects {
    return new NamespaceObjects(this.management, this.place.namespace);
  }

  /** The name of the HostedControlPlane. */
  get name(): ObjectName {
    return nameAt(this.place);
  }

  /** The HostedControlPlane. @throws when it is gone */
  get hostedControlPlane(): StoredObject {
    const { name } = this.name;
    const found = this.objects.get<StoredObject>(HostedControlPlane, name);
    if (!found) throw new Error(`HostedControlPlane ${name} is gone`);
    return found;
  }

  /** The conditions of its status. */
  get conditions(): readonly Condition[] {
    const { status = {} }: { status?: { conditions?: Condition[] } } & KubeObject = this.hostedControlPlane;
    return status.conditions ?? [];
  }

  /** Does at once all that Kubernetes' controllers would do over time, in the management cluster and in the hosted one. */
  settle(): void {
    runControllers(this.management);
    const { cluster, address } = this.place;
    settle(this.objects, {
      keepsOnDelete: true,
      startsNot: this.startsNot,
      unplaced: this.unplaced,
      cluster,
      address,
      inBackOff: this.inBackOff,
    });
    const claims = this.objects.list(PersistentVolumeClaim, { [clusterNameLabel]: cluster });
    if (claims.length === 0) this.hosted = emptyHostedCluster(this.clock);
    if (this.#runs('controller-manager')) settleHosted(this.hosted);
  }

  /** @throws while no API server of the hosted cluster runs, or none is where the endpoint leads */
  requireHostedApi(isThroughEndpoint: boolean): void {
    if (!this.#runs('api-server') || (isThroughEndpoint && this.endpointLeadsNowhere))
      throw new KubeError('no API server answers', { code: 0, reason: 'Unreachable' });
  }

  #runs(component: 'api-server' | 'controller-manager'): boolean {
    return this.objects
      .list(Pod, selectorLabels(this.place.cluster, component))
      .some((pod) => !isAway(pod) && !startsNever(pod));
  }
}

/** Which Cluster a control plane is of. */
export interface Place {
  readonly cluster: string;
  readonly namespace: string;
  /** Of its load balancers. */
  readonly address: string;
}

const samplePlace: Place = { cluster: clusterName, namespace, address: loadBalancerAddress };

/** As the sample's name is made of that of its Cluster. */
function nameAt({ cluster, namespace: place }: Place): ObjectName {
  return { namespace: place, name: hostedControlPlaneName.replace(clusterName, cluster) };
}

export const ourName = nameAt(samplePlace);

function ownerReferenceTo({ apiVersion, kind, metadata: { name, uid = '' } }: KubeObject) {
  return { apiVersion, kind, name, uid };
}

/** The API server of a hosted cluster before any client has written to it. */
export function emptyHostedCluster(clock: Pick<ManualClock, 'elapsed'>): MemoryApiServer {
  const server = new MemoryApiServer(() => clock.elapsed());
  for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) {
    server.store.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, uid: server.store.nextUid() } });
  }
  return server;
}

/**
 * What the controller manager of a hosted cluster does: it creates the first ServiceAccount, and pods as if there were nodes for
 * them.
 */
export function settleHosted(server: MemoryApiServer): void {
  const inDefault = new NamespaceObjects(server, 'default');
  if (!inDefault.get(ServiceAccount, firstServiceAccount.name)) {
    const { apiVersion, kind } = ServiceAccount;
    inDefault.put({ apiVersion, kind, metadata: { name: firstServiceAccount.name } });
  }
  const objects = new NamespaceObjects(server, 'kube-system');
  for (const workload of objects.list<StoredObject>(Deployment, {})) {
    const { replicas = 1 } = workload['spec'] as { replicas?: number };
    const counts = { replicas, readyReplicas: replicas, availableReplicas: replicas, updatedReplicas: replicas };
    objects.put({ ...workload, status: { observedGeneration: workload.metadata.generation ?? 0, ...counts } });
  }
  for (const workload of objects.list<StoredObject>(DaemonSet, {})) {
    const { generation = 0 } = workload.metadata;
    objects.put({
      ...workload,
      status: { observedGeneration: generation, desiredNumberScheduled: 0, numberAvailable: 0 },
    });
  }
}
