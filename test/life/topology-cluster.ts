import { clusterNameLabel } from '../../constructs/api/group.ts';
import { Cluster, HostedControlPlane, Machine, Node } from '../../constructs/api/resources.ts';
import type { Condition } from '../../constructs/api/status.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import type { HostedControlPlaneObject } from '../support/workbench.ts';
import { clientOf } from '../tools/testbed/access.ts';
import type { ClusterName } from '../tools/testbed/hosted-api.ts';
import type { Instance } from '../tools/testbed/instance.ts';
import { until } from '../tools/testbed/progress.ts';
import { withHostedApi } from '../tools/testbed/workers.ts';
import { classes } from './classes.ts';

/** How many machines a MachineDeployment has, by its name. */
export type Workers = Readonly<Record<string, number>>;

interface MachineObject extends KubeObject {
  readonly spec: { readonly version?: string; readonly providerID?: string };
  readonly status?: {
    readonly nodeRef?: { readonly name: string };
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

interface NodeObject extends KubeObject {
  readonly status?: {
    readonly nodeInfo?: { readonly kubeletVersion: string };
    readonly conditions?: readonly Condition[];
  };
}

interface ClusterObject extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

const fieldManager = 'user';
const limitMs = 600_000;

/** A Cluster with a topology, whose machines are those of a testbed. */
export class TopologyCluster {
  readonly instance: Instance;
  readonly #name: ClusterName;

  constructor(instance: Instance, name: ClusterName) {
    this.instance = instance;
    this.#name = name;
  }

  /** Name of its HostedControlPlane, as the class has it. */
  get controlPlane(): ClusterName {
    const { namespace, name } = this.#name;
    return { namespace, name: `${name}-cp` };
  }

  /** Creates it without a number of API servers, as a Cluster whose control plane scales automatically must be. */
  async create(version: string, workers: Workers): Promise<void> {
    const { apiVersion, kind } = Cluster;
    const object = {
      apiVersion,
      kind,
      metadata: { ...this.#name },
      spec: {
        clusterNetwork: { services: { cidrBlocks: ['10.128.0.0/16'] }, pods: { cidrBlocks: ['10.244.0.0/16'] } },
        topology: {
          classRef: { name: classes.first },
          version,
          workers: { machineDeployments: deployments(workers) },
        },
      },
    };
    await this.#manage((client) => client.create(object, { fieldManager }));
  }

  /** Changes fields of its topology. */
  async change(topology: object): Promise<void> {
    await this.#manage((client) => client.mergePatch(Cluster, this.#name, { spec: { topology } }, { fieldManager }));
  }

  /** Changes the number of API servers as an autoscaler does. */
  async scaleControlPlane(replicas: number): Promise<void> {
    const options = { fieldManager: 'autoscaler', subresource: 'scale' };
    await this.#manage((client) =>
      client.mergePatch(HostedControlPlane, this.controlPlane, { spec: { replicas } }, options),
    );
  }

  async untilReplicas(replicas: number): Promise<void> {
    let seen: number | undefined;
    await until({ what: `${replicas} API servers in the spec`, timeoutMs: limitMs }, async () => {
      seen = await this.replicas();
      return seen === replicas;
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}; there are ${seen}`, { cause: error });
    });
  }

  /** The number of API servers in the spec. */
  async replicas(): Promise<number | undefined> {
    return (await this.get()).spec['replicas'] as number | undefined;
  }

  async scale(workers: Workers): Promise<void> {
    await this.change({ workers: { machineDeployments: deployments(workers) } });
  }

  /** Sets fields of the HostedControlPlane that the class leaves alone, as its owner. */
  async own(spec: object): Promise<void> {
    await this.#manage((client) =>
      client.mergePatch(HostedControlPlane, this.controlPlane, { spec }, { fieldManager }),
    );
  }

  get(): Promise<HostedControlPlaneObject> {
    return this.#manage((client) => client.get<HostedControlPlaneObject>(HostedControlPlane, this.controlPlane));
  }

  exists(): Promise<boolean> {
    return this.#manage(async (client) => (await client.find(HostedControlPlane, this.controlPlane)) !== undefined);
  }

  /** Ends when the control plane is Ready with this version, and exactly `count` Machines of it have a Ready Node. */
  async untilWorkers(version: string, count: number): Promise<MachineObject[]> {
    let state = 'nothing is there';
    return until({ what: `${count} workers of ${version}`, timeoutMs: limitMs }, async () => {
      const { status, metadata } = await this.get();
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      const machines = await this.machines();
      const nodes = ready?.status === 'True' ? await this.#nodes() : [];
      state = `the control plane is ${status?.version}, ${ready?.reason}; Machines ${machines
        .map(({ metadata: { name }, spec }) => `${name} ${spec.version}`)
        .join(', ')}; Nodes ${nodes.join(', ')}`;
      const isComplete =
        ready?.status === 'True' &&
        ready.observedGeneration === metadata.generation &&
        status?.version === version &&
        machines.length === count &&
        machines.every((machine) => machine.spec.version === version && isReady(machine)) &&
        machines.every(({ status: of }) => nodes.includes(`${of?.nodeRef?.name} ${version}`));
      return isComplete && machines;
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}; ${state}`, { cause: error });
    });
  }

  /** Ends when Cluster API says so too. */
  async untilAvailable(): Promise<void> {
    await until({ what: 'the Cluster Available', timeoutMs: limitMs }, async () => {
      const { status } = await this.#manage((client) => client.get<ClusterObject>(Cluster, this.#name));
      return status?.conditions?.some(({ type, status: value }) => type === 'Available' && value === 'True');
    });
  }

  async delete(): Promise<void> {
    await this.#manage((client) => client.delete(Cluster, this.#name));
    await until({ what: 'the Cluster gone', timeoutMs: limitMs }, async () => {
      return (await this.#manage((client) => client.find(Cluster, this.#name))) === undefined;
    });
  }

  async machines(): Promise<MachineObject[]> {
    const { namespace, name } = this.#name;
    const selection = { namespace, labelSelector: `${clusterNameLabel}=${name}` };
    return this.#manage(async (client) => (await client.list<MachineObject>(Machine, selection)).items);
  }

  /** Ready Nodes, each with the version of its kubelet. */
  async #nodes(): Promise<string[]> {
    return withHostedApi(this.instance, this.#name, async ({ client }) => {
      const { items } = await client.list<NodeObject>(Node);
      const ready = items.filter(({ status }) =>
        status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True'),
      );
      return ready.map(({ metadata, status }) => `${metadata.name} ${status?.nodeInfo?.kubeletVersion}`);
    }).catch(() => []);
  }

  async #manage<T>(work: (client: KubeClient) => Promise<T>): Promise<T> {
    const client = await clientOf(this.instance);
    try {
      return await work(client);
    } finally {
      await client.connection.close();
    }
  }
}

function isReady({ status }: MachineObject): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
}

function deployments(workers: Workers): object[] {
  return Object.entries(workers).map(([name, replicas]) => ({ class: 'default-worker', name, replicas }));
}
