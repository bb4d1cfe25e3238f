import type { PodObject, SecretObject } from '../../imports/kubernetes.ts';
import { randomUUID } from 'node:crypto';
import type { LookupFunction } from 'node:net';
import type { ConditionType } from '../../constructs/api/conditions.ts';
import {
  Cluster,
  ConfigMap,
  Deployment,
  HostedControlPlane,
  NetworkPolicy,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  type Resource,
  Secret,
  Service,
  StatefulSet,
} from '../../constructs/api/resources.ts';
import type { Condition, HostedControlPlaneStatus } from '../../constructs/api/status.ts';
import { type ComponentName, selectorString } from '../../constructs/cluster/labels.ts';
import * as clusterApi from '../../imports/cluster.x-k8s.io.ts';
import { KubeClient } from '../../reconciler/kube/client.ts';
import { connect, loadKubeConfig } from '../../reconciler/kube/config.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { valueOf } from '../../reconciler/pki/secret.ts';
import { onceWebhooksAnswer } from './cluster-api-webhooks.ts';
import { HcpUser } from './hcp.ts';
import { hostedClient } from './hosted-client.ts';
import { installDefinitions } from './installed-definitions.ts';
import { describePods } from './pod-states.ts';
import { endNamespace, makeNamespace } from './test-namespace.ts';
import { until } from './until.ts';

/** A HostedControlPlane as the API returns it. */
export interface HostedControlPlaneObject extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>> & {
    readonly controlPlaneEndpoint?: { readonly host: string; readonly port: number };
  };
  readonly status?: HostedControlPlaneStatus;
}

export const kubernetesVersion = 'v1.37.1';

/** The smallest control plane: one replica of everything. */
export const single = {
  version: kubernetesVersion,
  replicas: 1,
  etcd: { replicas: 1 },
  exposure: { loadBalancer: {} },
} as const;

/** The kinds of a control plane's objects in the management cluster. */
export const controlPlaneKinds: readonly Resource[] = [
  Deployment,
  StatefulSet,
  Pod,
  Service,
  ConfigMap,
  Secret,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  NetworkPolicy,
];

const fieldManager = 'test';

/** One namespace of the management cluster with the Cluster and the HostedControlPlane that a test creates in it. */
export class Workbench {
  readonly namespace: string;
  #client: KubeClient | undefined;
  #kubeconfig: string | undefined;
  #hcp: HcpUser | undefined;

  /** @param client if the namespace exists already; otherwise {@link make} creates it */
  constructor(namespace: string, client?: KubeClient) {
    this.namespace = namespace;
    this.#client = client;
  }

  static async open(kubeconfig: string, namespace: string): Promise<Workbench> {
    const bench = new Workbench(namespace);
    await bench.make(kubeconfig);
    return bench;
  }

  /** @throws before the namespace is created */
  get client(): KubeClient {
    if (!this.#client) throw new Error(`namespace ${this.namespace} is not made yet`);
    return this.#client;
  }

  /** Creates the namespace with the strictest pod security, and installs the CRDs. What an earlier run left is deleted first. */
  async make(kubeconfig: string): Promise<void> {
    await this.connect(kubeconfig);
    await makeNamespace(this.client, this.namespace);
  }

  /** Opens the connection of the administrator, and installs the CRDs. */
  async connect(kubeconfig: string): Promise<void> {
    this.#client = new KubeClient(await connect(loadKubeConfig(kubeconfig)));
    this.#kubeconfig = kubeconfig;
    await installDefinitions(this.#client, kubeconfig);
  }

  /**
   * Removes the namespace and its contents without waiting: finalizers are removed, and pods are killed. Tests that call
   * {@link delete} verify what an operator does at a deletion.
   */
  async close(): Promise<void> {
    await this.endCommands();
    await endNamespace(this.client, this.namespace);
    await this.client.connection.close();
  }

  /** Takes back the rights of the commands that ran. */
  async endCommands(): Promise<void> {
    await this.#hcp?.end();
    this.#hcp = undefined;
  }

  /** Runs commands of `hcp`, each with the rights that its help asks for, and no others. */
  get hcp(): HcpUser {
    const { client, namespace } = this;
    const kubeconfig = this.#kubeconfig;
    if (kubeconfig === undefined) throw new Error(`namespace ${namespace} was not made by this workbench`);
    this.#hcp ??= new HcpUser({ client: () => client, kubeconfig: () => kubeconfig, namespace });
    return this.#hcp;
  }

  /** Creates a Cluster and its HostedControlPlane `<cluster>-cp`. */
  async create(cluster: string, spec: object, clusterSpec: clusterApi.ClusterSpec = {}): Promise<void> {
    await this.createCluster(cluster, this.client, clusterSpec);
    await this.createHostedControlPlane(`${cluster}-cp`, spec);
  }

  /** Creates a Cluster that names the HostedControlPlane `<cluster>-cp`, as the user of a client. */
  async createCluster(cluster: string, user: KubeClient, clusterSpec: clusterApi.ClusterSpec = {}): Promise<void> {
    const object: KubeObject = clusterApi.Cluster.manifest({
      metadata: { namespace: this.namespace, name: cluster },
      spec: {
        clusterNetwork: { services: { cidrBlocks: ['10.128.0.0/16'] }, pods: { cidrBlocks: ['10.244.0.0/16'] } },
        controlPlaneRef: {
          apiGroup: 'controlplane.cluster.x-k8s.io',
          kind: HostedControlPlane.kind,
          name: `${cluster}-cp`,
        },
        ...clusterSpec,
      },
    });
    await onceWebhooksAnswer(() => user.create(object, { fieldManager }));
  }

  async createHostedControlPlane(name: string, spec: object): Promise<void> {
    const { apiVersion, kind } = HostedControlPlane;
    const metadata = { namespace: this.namespace, name };
    await this.client.create({ apiVersion, kind, metadata, spec }, { fieldManager });
  }

  /** Makes the Cluster the owner of its HostedControlPlane, as Cluster API does where it runs. */
  async nameOwner(cluster: string): Promise<void> {
    const { apiVersion, kind, metadata } = await this.client.get(Cluster, this.#name(cluster));
    const { name, uid } = metadata;
    await this.patch(cluster, { metadata: { ownerReferences: [{ apiVersion, kind, name, uid }] } });
  }

  /** Changes a HostedControlPlane as a user would. */
  async patch(cluster: string, patch: object): Promise<void> {
    await this.client.mergePatch(HostedControlPlane, this.#name(`${cluster}-cp`), patch, { fieldManager });
  }

  /** Changes a field without effect, and resolves when a complete reconcile has observed it. */
  async untilSeen(cluster: string): Promise<void> {
    await this.patch(cluster, { spec: { machineTemplate: { metadata: { labels: { touched: randomUUID() } } } } });
    await until(`a reconcile of ${cluster}`, async () => {
      const { metadata, status } = await this.get(cluster);
      return status?.observedGeneration === metadata.generation;
    });
  }

  /** The current status of a HostedControlPlane. */
  async condition(cluster: string, type: ConditionType): Promise<Condition | undefined> {
    return (await this.get(cluster)).status?.conditions?.find((condition) => condition.type === type);
  }

  get(cluster: string): Promise<HostedControlPlaneObject> {
    return this.client.get<HostedControlPlaneObject>(HostedControlPlane, this.#name(`${cluster}-cp`));
  }

  /**
   * Resolves with the condition once it has the expected state; throws with its last state and the states of pods that are not
   * ready. Each change of any condition starts the limit again.
   */
  async untilCondition(
    cluster: string,
    type: ConditionType,
    { message = /(?:)/, ...expected }: Partial<Pick<Condition, 'status' | 'reason'>> & { readonly message?: RegExp },
    limitMs = 120_000,
  ): Promise<Condition> {
    let last: Condition | undefined;
    let all: readonly Condition[] = [];
    try {
      return await until(
        `${type} of ${cluster}`,
        async () => {
          all = (await this.get(cluster)).status?.conditions ?? [];
          last = all.find((condition) => condition.type === type);
          const matches = Object.entries(expected).every(([key, value]) => last?.[key as 'status'] === value);
          return last && matches && message.test(last.message) ? last : undefined;
        },
        limitMs,
        () => all.map((each) => [each.type, each.status, each.reason, each.message]),
      );
    } catch (error) {
      throw new Error(
        `${type} never became ${JSON.stringify(expected)} ${message.source}, it is ${JSON.stringify(last)}\n${await describePods(this.client, this.namespace)}`,
        {
          cause: error,
        },
      );
    }
  }

  async untilReady(cluster: string, limitMs = 180_000): Promise<void> {
    await this.untilCondition(cluster, 'Ready', { status: 'True' }, limitMs);
  }

  /**
   * Resolves once the control plane is Ready by its current spec. Each change of a condition starts the limit again.
   * @param seen gets what is not true, each time that it changes
   */
  async untilRolledOut(cluster: string, seen: (waitsFor: string) => void = () => {}): Promise<void> {
    let waitsFor = '';
    await until(
      `${cluster} to be Ready by its current spec`,
      async () => {
        const { metadata, spec, status } = await this.get(cluster);
        const conditions = status?.conditions ?? [];
        const now = conditions
          .filter((condition) => condition.status === 'False')
          .map(({ type, reason, message }) => `${type} ${reason}: ${message}`)
          .join(' | ');
        if (now !== waitsFor) seen(now);
        waitsFor = now;
        const ready = conditions.find(({ type }) => type === 'Ready');
        if (ready?.status !== 'True' || ready.observedGeneration !== metadata.generation) return false;
        return status?.version === spec.version;
      },
      180_000,
      () => waitsFor,
    );
  }

  async exists(cluster: string): Promise<boolean> {
    return (await this.client.find(Cluster, this.#name(cluster))) !== undefined;
  }

  async beginDeletion(cluster: string): Promise<void> {
    await this.client.delete(Cluster, this.#name(cluster));
  }

  /** Deletes the Cluster and resolves when it and all its objects are gone. */
  async delete(cluster: string, limitMs = 240_000): Promise<void> {
    await this.beginDeletion(cluster);
    await until(`Cluster ${cluster} to be gone`, async () => !(await this.exists(cluster)), limitMs);
  }

  /** Deletes every Cluster that a test has left. */
  async deleteAll(): Promise<void> {
    const { items } = await this.client.list(Cluster, { namespace: this.namespace });
    await Promise.all(items.map(({ metadata }) => this.delete(metadata.name)));
  }

  /**
   * Every object of a control plane in the namespace, with its version, without Kubernetes' own root certificates. A pod has its UID instead,
   * because its kubelet writes its status also after it is ready.
   */
  async everything(): Promise<string[]> {
    const { client, namespace } = this;
    const lists = await Promise.all(controlPlaneKinds.map((kind) => client.list(kind, { namespace })));
    return lists
      .flatMap(({ items }) => items)
      .filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt')
      .map(({ kind, metadata: { name, uid, resourceVersion } }) =>
        [kind, name, kind === Pod.kind ? uid : resourceVersion].join(' '),
      );
  }

  /** The pods of one component of a control plane. */
  async pods(cluster: string, component: ComponentName): Promise<readonly PodObject[]> {
    const labelSelector = selectorString(cluster, component);
    return (await this.client.list<PodObject>(Pod, { namespace: this.namespace, labelSelector })).items;
  }

  /**
   * A client of the hosted cluster, from the kubeconfig that Cluster API uses. The caller closes it.
   * @param lookup resolves the host of the endpoint; by default this machine's resolver does
   */
  async hosted(cluster: string, lookup?: LookupFunction): Promise<KubeClient> {
    const secret = await this.client.get<SecretObject>(Secret, this.#name(`${cluster}-kubeconfig`));
    return hostedClient(valueOf(secret, 'value') ?? '', lookup);
  }

  #name(name: string) {
    return { namespace: this.namespace, name };
  }
}
