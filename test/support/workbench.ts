import type { LookupFunction } from 'node:net';
import { parse } from 'yaml';
import { hostedControlPlaneCRD, hostedControlPlaneTemplateCRD } from '../../constructs/api/crd.ts';
import type { ConditionType } from '../../constructs/api/conditions.ts';
import {
  Cluster,
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  HostedControlPlane,
  Namespace,
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
import { KubeClient } from '../../reconciler/kube/client.ts';
import { connect, connectionFor, loadKubeConfig } from '../../reconciler/kube/config.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { type SecretObject, valueOf } from '../../reconciler/pki/secret.ts';
import { until } from './until.ts';

/** A HostedControlPlane as the API returns it. */
export interface HostedControlPlaneObject extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>> & {
    readonly controlPlaneEndpoint?: { readonly host: string; readonly port: number };
  };
  readonly status?: HostedControlPlaneStatus;
}

export const kubernetesVersion = 'v1.36.3';

/** The smallest control plane: one of everything. */
export const single = {
  version: kubernetesVersion,
  replicas: 1,
  etcd: { replicas: 1 },
  exposure: { loadBalancer: {} },
} as const;

/** The kinds a control plane consists of in the management cluster. */
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

/** One namespace of the management cluster with the Cluster and the HostedControlPlane that a test makes in it. */
export class Workbench {
  readonly client: KubeClient;
  readonly namespace: string;

  constructor(client: KubeClient, namespace: string) {
    this.client = client;
    this.namespace = namespace;
  }

  /** Makes the namespace, under the strictest pod security, and installs the CRDs. */
  static async open(kubeconfig: string, namespace: string): Promise<Workbench> {
    const client = new KubeClient(await connect(loadKubeConfig(kubeconfig)));
    for (const crd of [hostedControlPlaneCRD, hostedControlPlaneTemplateCRD]) {
      await client.apply(crd, { fieldManager, force: true });
    }
    await until('the CRDs to be established', async () => {
      const crd = await client.get<KubeObject & { status?: { conditions?: { type: string; status: string }[] } }>(
        CustomResourceDefinition,
        { name: hostedControlPlaneCRD.metadata.name },
      );
      return crd.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True');
    });
    const bench = new Workbench(client, namespace);
    await client.apply(
      {
        apiVersion: Namespace.apiVersion,
        kind: Namespace.kind,
        metadata: { name: namespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
      },
      { fieldManager, force: true },
    );
    return bench;
  }

  /** Removes the namespace and whatever is left in it. */
  async close(): Promise<void> {
    await this.client.delete(Namespace, { name: this.namespace });
    await this.client.connection.close();
  }

  /** Makes a Cluster and its HostedControlPlane `<cluster>-cp`. */
  async create(cluster: string, spec: object, clusterSpec: object = {}): Promise<void> {
    await this.client.create(
      {
        apiVersion: Cluster.apiVersion,
        kind: Cluster.kind,
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
      },
      { fieldManager },
    );
    await this.createHostedControlPlane(`${cluster}-cp`, spec);
  }

  async createHostedControlPlane(name: string, spec: object): Promise<void> {
    const { apiVersion, kind } = HostedControlPlane;
    const metadata = { namespace: this.namespace, name };
    await this.client.create({ apiVersion, kind, metadata, spec }, { fieldManager });
  }

  /** Changes a HostedControlPlane as a user would. */
  async patch(cluster: string, patch: object): Promise<void> {
    await this.client.mergePatch(HostedControlPlane, this.#name(`${cluster}-cp`), patch, { fieldManager });
  }

  get(cluster: string): Promise<HostedControlPlaneObject> {
    return this.client.get<HostedControlPlaneObject>(HostedControlPlane, this.#name(`${cluster}-cp`));
  }

  /** Resolves with the condition once it says so; throws with what it said instead. */
  async untilCondition(
    cluster: string,
    type: ConditionType,
    { message = /(?:)/, ...expected }: Partial<Pick<Condition, 'status' | 'reason'>> & { readonly message?: RegExp },
    limitMs = 120_000,
  ): Promise<Condition> {
    let last: Condition | undefined;
    try {
      return await until(
        `${type} of ${cluster}`,
        async () => {
          last = (await this.get(cluster)).status?.conditions?.find((condition) => condition.type === type);
          const matches = Object.entries(expected).every(([key, value]) => last?.[key as 'status'] === value);
          return last && matches && message.test(last.message) ? last : undefined;
        },
        limitMs,
      );
    } catch (error) {
      throw new Error(
        `${type} never became ${JSON.stringify(expected)} ${message.source}, it is ${JSON.stringify(last)}`,
        {
          cause: error,
        },
      );
    }
  }

  async untilReady(cluster: string, limitMs = 180_000): Promise<void> {
    await this.untilCondition(cluster, 'Ready', { status: 'True' }, limitMs);
  }

  async exists(cluster: string): Promise<boolean> {
    return (await this.client.find(Cluster, this.#name(cluster))) !== undefined;
  }

  async beginDeletion(cluster: string): Promise<void> {
    await this.client.delete(Cluster, this.#name(cluster));
  }

  /** Deletes the Cluster and resolves when it and everything of it is gone. */
  async delete(cluster: string, limitMs = 240_000): Promise<void> {
    await this.beginDeletion(cluster);
    await until(`Cluster ${cluster} to be gone`, async () => !(await this.exists(cluster)), limitMs);
  }

  /** Deletes every Cluster that a test has left. */
  async deleteAll(): Promise<void> {
    const { items } = await this.client.list(Cluster, { namespace: this.namespace });
    await Promise.all(items.map(({ metadata }) => this.delete(metadata.name)));
  }

  /** Everything of a control plane that there is in the namespace, with its version; Kubernetes' own root certificates aside. */
  async everything(): Promise<string[]> {
    const { client, namespace } = this;
    const lists = await Promise.all(controlPlaneKinds.map((kind) => client.list(kind, { namespace })));
    return lists
      .flatMap(({ items }) => items)
      .filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt')
      .map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.resourceVersion}`);
  }

  /**
   * A client of the hosted cluster, from the kubeconfig Cluster API uses. Close its connection when done.
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

/** A client from the text of a kubeconfig in the shape we write. */
export function hostedClient(kubeconfig: string, lookup?: LookupFunction): KubeClient {
  const { clusters, users } = parse(kubeconfig) as {
    clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
    users: [{ user: { 'client-certificate-data': string; 'client-key-data': string } }];
  };
  const text = (base64: string) => Buffer.from(base64, 'base64').toString('utf8');
  return new KubeClient(
    connectionFor({
      server: clusters[0].cluster.server,
      ca: text(clusters[0].cluster['certificate-authority-data']),
      cert: text(users[0].user['client-certificate-data']),
      key: text(users[0].user['client-key-data']),
      lookup,
    }),
    // Long enough for a busy machine, and short enough to ask again when its API server has just been replaced.
    { deadlineMs: 15_000 },
  );
}
