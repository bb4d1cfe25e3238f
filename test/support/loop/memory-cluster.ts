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
import { definedOnly } from '../../../constructs/cluster/defined.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { KubeError } from '../../../reconciler/kube/errors.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { firstServiceAccount } from '../../../reconciler/hosted/informers.ts';
import type { Condition } from '../../../constructs/api/status.ts';
import { settle } from '../management-controllers.ts';
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

  /** Whether the host of the endpoint leads to no API server, which runs and is reached from within. */
  endpointLeadsNowhere = false;

  constructor(clock: ManualClock, management?: MemoryApiServer, hosted?: MemoryApiServer, etcd = new MemoryEtcd()) {
    this.clock = clock;
    this.etcd = etcd;
    // The clocks of API servers are right, whatever the operator's says.
    this.management = management ?? new MemoryApiServer(() => clock.elapsed());
    this.hosted = hosted ?? emptyHostedCluster(clock);
    this.user = new MemoryClient(this.management, administrator('somebody'));
  }

  /** A copy at the same time and in the same state, which then changes independently. */
  copy(): MemoryCluster {
    const clock = new ManualClock(this.clock.elapsed());
    clock.setTime(this.clock.now() - this.clock.elapsed());
    const now = () => clock.elapsed();
    const copy = new MemoryCluster(clock, this.management.copy(now), this.hosted.copy(now), this.etcd.copy());
    copy.watchNamespace = this.watchNamespace;
    copy.newestRevision = this.newestRevision;
    return copy;
  }

  /** Grows with every change by any client. */
  get version(): number {
    return this.management.store.version + this.hosted.store.version;
  }

  /** Installs what a management cluster has before any control plane. */
  async install(): Promise<void> {
    await this.user.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, somebody);
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
    const controlPlaneRef = { apiGroup: 'x', kind: HostedControlPlane.kind, name: hostedControlPlaneName };
    const cluster = await this.user.create(
      clusterApi.Cluster.manifest({ metadata: { name: clusterName, namespace }, spec: { controlPlaneRef } }),
      somebody,
    );
    await this.orderControlPlane(cluster, changes, annotations);
  }

  /** Creates the HostedControlPlane of a Cluster. */
  async orderControlPlane(
    cluster: KubeObject,
    changes: object = {},
    annotations: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const { apiVersion, kind, metadata } = cluster;
    const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' };
    await this.user.create(
      {
        apiVersion: HostedControlPlane.apiVersion,
        kind: HostedControlPlane.kind,
        metadata: { name: hostedControlPlaneName, namespace, annotations, ownerReferences: [owner] },
        spec: { ...spec, ...changes },
      },
      somebody,
    );
  }

  /** Changes fields of the HostedControlPlane's spec, as a user does. */
  async change(spec: object): Promise<void> {
    await this.user.mergePatch(HostedControlPlane, ourName, { spec }, somebody);
  }

  get objects(): NamespaceObjects {
    return new NamespaceObjects(this.management, namespace);
  }

  /** The HostedControlPlane. @throws when it is gone */
  get hostedControlPlane(): StoredObject {
    const found = this.objects.get<StoredObject>(HostedControlPlane, hostedControlPlaneName);
    if (!found) throw new Error(`HostedControlPlane ${hostedControlPlaneName} is gone`);
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
    settle(this.objects, { keepsOnDelete: true, startsNot: this.startsNot });
    if (this.objects.list(PersistentVolumeClaim, {}).length === 0) this.hosted = emptyHostedCluster(this.clock);
    if (this.#runs('controller-manager')) settleHosted(this.hosted);
  }

  /** @throws while no API server of the hosted cluster runs, or none is where the endpoint leads */
  requireHostedApi(isThroughEndpoint: boolean): void {
    if (!this.#runs('api-server') || (isThroughEndpoint && this.endpointLeadsNowhere))
      throw new KubeError('no API server answers', { code: 0, reason: 'Unreachable' });
  }

  #runs(component: 'api-server' | 'controller-manager'): boolean {
    return this.objects.list(Pod, selectorLabels(clusterName, component)).length > 0;
  }
}

export const ourName = { namespace, name: hostedControlPlaneName };

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
