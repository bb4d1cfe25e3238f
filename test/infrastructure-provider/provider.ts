import { setTimeout } from 'node:timers/promises';
import { clusterNameLabel } from '../../constructs/api/group.ts';
import { Cluster, Machine, MachinePool, type Resource, Secret } from '../../constructs/api/resources.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import { isNotFound } from '../../reconciler/kube/errors.ts';
import { messageOf } from '../../reconciler/kube/error-message.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { type SecretObject, valueOf } from '../../reconciler/pki/secret.ts';
import type { Report } from '../tools/testbed/progress.ts';
import type { Cloud } from './clouds.ts';
import type { HostMachines } from './host-machines.ts';
import {
  type ClusterObject,
  type InfraClusterObject,
  isPaused,
  isProvisioned,
  machineStep,
  poolMachines,
  type WantedMachine,
} from './plan.ts';

const fieldManager = 'testbed-infrastructure';
const againAfterMs = 5_000;
const finalizer = 'testbed.infrastructure.cluster.x-k8s.io';

interface MachineObject extends KubeObject {
  readonly spec: WantedMachine;
}

interface PoolObject extends KubeObject {
  readonly spec: { readonly replicas?: number; readonly template: { readonly spec: WantedMachine } };
}

interface InfraMachineObject extends KubeObject {
  readonly status?: { readonly initialization?: { readonly provisioned?: boolean } };
}

interface InfraPoolObject extends KubeObject {
  readonly spec?: { readonly providerIDList?: readonly string[] };
  readonly status?: { readonly replicas?: number };
}

/** The objects of one pass, by `namespace/name`. */
interface World {
  readonly clusters: ReadonlyMap<string, ClusterObject>;
  /** Names of Clusters whose infrastructure is provisioned. */
  readonly provisioned: ReadonlySet<string>;
  readonly machines: ReadonlyMap<string, MachineObject>;
  readonly pools: ReadonlyMap<string, PoolObject>;
}

/**
 * An infrastructure provider for Cluster API, whose machines are those of a testbed. Each pass reads everything and begins
 * what is due; what takes long goes on meanwhile.
 */
export class InfrastructureProvider {
  readonly #client: KubeClient;
  readonly #cloud: Cloud;
  readonly #host: HostMachines;
  readonly #report: Report;
  /** What is going on, by machine. */
  readonly #work = new Map<string, Promise<unknown>>();
  readonly #said = new Map<string, string>();

  constructor(client: KubeClient, cloud: Cloud, host: HostMachines, report: Report) {
    this.#client = client;
    this.#cloud = cloud;
    this.#host = host;
    this.#report = report;
  }

  async pass(): Promise<void> {
    const { cluster, machine: machineKind, pool: poolKind } = this.#cloud;
    const clusters = await this.#all<ClusterObject>(Cluster);
    const provisioned = new Set<string>();
    for (const infra of (await this.#client.list<InfraClusterObject>(cluster)).items) {
      const key = clusterOf(infra);
      if (infra.status?.initialization?.provisioned) provisioned.add(key);
      else if (!isPaused(infra, clusters.get(key)) && isProvisioned(infra)) {
        await this.#patchStatus(cluster, infra, { initialization: { provisioned: true } });
      }
    }
    const machines = await this.#all<MachineObject>(Machine);
    const pools = await this.#all<PoolObject>(MachinePool);
    const world: World = { clusters, provisioned, machines, pools };
    for (const machine of (await this.#client.list<InfraMachineObject>(machineKind)).items)
      await this.#reconcileMachine(machine, world);
    if (poolKind === undefined) return;
    for (const pool of (await this.#client.list<InfraPoolObject>(poolKind)).items) {
      await this.#reconcilePool(poolKind, pool, world);
    }
  }

  async #reconcileMachine(object: InfraMachineObject, world: World): Promise<void> {
    const { name } = object.metadata;
    if (this.#work.has(name)) return;
    const step = machineStep({
      isDeleted: object.metadata.deletionTimestamp !== undefined,
      isPaused: isPaused(object, world.clusters.get(clusterOf(object))),
      isClusterProvisioned: world.provisioned.has(clusterOf(object)),
      wanted: world.machines.get(ownerOf(object, Machine.kind))?.spec,
      host: await this.#host.stateOf(name),
      isReported: object.status?.initialization?.provisioned ?? false,
    });
    this.#say(name, step.kind === 'wait' ? `waits for ${step.for}` : step.kind);
    if (step.kind === 'boot') {
      await this.#hold(this.#cloud.machine, object);
      this.#begin(name, () => this.#boot(object, { name, ...step }, () => this.#reportMachine(object)));
    }
    if (step.kind === 'report') await this.#reportMachine(object);
    if (step.kind === 'remove') {
      this.#begin(name, async () => {
        await this.#host.remove(name);
        await this.#release(this.#cloud.machine, object);
      });
    }
  }

  async #reportMachine(object: KubeObject): Promise<void> {
    const { name } = object.metadata;
    const spec = { providerID: this.#cloud.providerIdOf(name) };
    await this.#client.mergePatch(this.#cloud.machine, object.metadata, { spec }, { fieldManager });
    const addresses = await this.#host.addressesOf(name);
    await this.#patchStatus(this.#cloud.machine, object, { initialization: { provisioned: true }, addresses });
  }

  /** One machine is replaced at a time when the version has changed. */
  async #reconcilePool(kind: Resource, object: InfraPoolObject, world: World): Promise<void> {
    const pool = world.pools.get(ownerOf(object, MachinePool.kind));
    const key = clusterOf(object);
    if (isPaused(object, world.clusters.get(key)) || !pool) return;
    const isDeleted = object.metadata.deletionTimestamp !== undefined;
    const wanted = isDeleted ? [] : poolMachines(object.metadata.name, pool.spec.replicas ?? 1);
    const had = (object.spec?.providerIDList ?? []).map((id) => id.slice(this.#cloud.providerIdOf('').length));
    const { version, bootstrap } = pool.spec.template.spec;

    for (const name of had.filter((one) => !wanted.includes(one))) {
      if (!this.#work.has(name)) this.#begin(name, () => this.#host.remove(name));
    }
    let isReplacing = had.some((name) => this.#work.has(name));
    for (const name of wanted) {
      if (this.#work.has(name)) continue;
      const host = await this.#host.stateOf(name);
      const isOutdated = host === 'joined' && !isReplacing && (await this.#host.versionOf(name)) !== version;
      const { dataSecretName } = bootstrap;
      if ((host === 'joined' && !isOutdated) || dataSecretName === undefined || !world.provisioned.has(key)) continue;
      isReplacing ||= isOutdated;
      await this.#hold(kind, object);
      this.#begin(name, () => this.#boot(object, { name, dataSecretName, version }, async () => {}));
    }
    const running: string[] = [];
    for (const name of new Set([...wanted, ...had])) {
      if ((await this.#host.stateOf(name)) === 'joined') running.push(name);
    }
    if (isDeleted && running.length === 0 && !had.some((name) => this.#work.has(name)))
      return this.#release(kind, object);
    if (running.join(' ') === had.join(' ') && object.status?.replicas === running.length) return;
    const spec = { providerIDList: running.map((name) => this.#cloud.providerIdOf(name)) };
    await this.#client.mergePatch(kind, object.metadata, { spec }, { fieldManager });
    const status = { initialization: { provisioned: running.length > 0 }, replicas: running.length };
    await this.#patchStatus(kind, object, status);
  }

  async #boot(
    object: KubeObject,
    { name, dataSecretName, version }: { name: string; dataSecretName: string; version: string | undefined },
    poweredOn: () => Promise<void>,
  ): Promise<void> {
    const { namespace = '' } = object.metadata;
    const secret = await this.#client.get<SecretObject>(Secret, { namespace, name: dataSecretName });
    const cluster = { namespace, name: object.metadata.labels?.[clusterNameLabel] ?? '' };
    await this.#host.boot({ name, cluster, version, userData: valueOf(secret, 'value') ?? '' }, poweredOn);
  }

  /** What failed is tried again some seconds later. */
  #begin(name: string, work: () => Promise<void>): void {
    const done = work()
      .catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        this.#report(`${name}: ${messageOf(error)}`);
        return setTimeout(againAfterMs);
      })
      .finally(() => this.#work.delete(name));
    this.#work.set(name, done);
  }

  /** Each change of what a machine does is printed once. */
  #say(name: string, what: string): void {
    if (this.#said.get(name) === what) return;
    this.#said.set(name, what);
    this.#report(`${name}: ${what}`);
  }

  async #hold(resource: Resource, { metadata }: KubeObject): Promise<void> {
    if (metadata.finalizers?.includes(finalizer)) return;
    const finalizers = [...(metadata.finalizers ?? []), finalizer];
    await this.#client.mergePatch(resource, metadata, { metadata: { finalizers } }, { fieldManager });
  }

  async #release(resource: Resource, { metadata }: KubeObject): Promise<void> {
    const finalizers = (metadata.finalizers ?? []).filter((one) => one !== finalizer);
    await this.#client.mergePatch(resource, metadata, { metadata: { finalizers } }, { fieldManager });
  }

  async #patchStatus(resource: Resource, { metadata }: KubeObject, status: object): Promise<void> {
    await this.#client.mergePatch(resource, metadata, { status }, { fieldManager, subresource: 'status' });
  }

  async #all<T extends KubeObject>(resource: Resource): Promise<Map<string, T>> {
    const { items } = await this.#client.list<T>(resource);
    return new Map(items.map((object) => [`${object.metadata.namespace}/${object.metadata.name}`, object]));
  }
}

/** The `namespace/name` of the Cluster that an object belongs to. */
function clusterOf({ metadata }: KubeObject): string {
  return `${metadata.namespace}/${metadata.labels?.[clusterNameLabel] ?? ''}`;
}

function ownerOf({ metadata }: KubeObject, kind: string): string {
  const owner = metadata.ownerReferences?.find((reference) => reference.kind === kind);
  return `${metadata.namespace}/${owner?.name ?? ''}`;
}
