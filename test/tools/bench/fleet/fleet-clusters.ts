import { backupAnnotation } from '../../../../constructs/api/group.ts';
import { Cluster, HostedControlPlane, Namespace } from '../../../../constructs/api/resources.ts';
import * as clusterApi from '../../../../imports/cluster.x-k8s.io.ts';
import type { KubeClient } from '../../../../reconciler/kube/client.ts';
import { systemClock } from '../../../../reconciler/kube/clock.ts';
import { resultsOf, settleAll } from '../../../../reconciler/kube/concurrency.ts';
import { kubeErrorOf } from '../../../../reconciler/kube/errors.ts';
import { Informer } from '../../../../reconciler/kube/informer.ts';
import { type HostedControlPlaneObject, single } from '../../../support/workbench.ts';
import type { KubeObject } from '../../../../reconciler/kube/object.ts';

const manager = { fieldManager: 'bench' };
const atOnce = 16;
/** One of so many clusters has three members of etcd. */
const largeEtcdEach = 3;

export interface FleetClustersOptions {
  /** A third of the clusters has three members of etcd. @default all have one */
  readonly hasLargeEtcds?: boolean;
}

/** All clusters of a fleet, each in a namespace of its own, as their users see them. */
export class FleetClusters {
  readonly #client: KubeClient;
  readonly #report: (line: string) => void;
  readonly #seen: Informer<HostedControlPlaneObject>;
  /** The generation of the last spec of each cluster, by its namespace. */
  readonly #generations = new Map<string, number>();
  /** When each cluster has become Ready for the first time, by its namespace. */
  readonly #readyAt = new Map<string, number>();
  readonly #hasLargeEtcds: boolean;
  #numbers: readonly number[] = [];

  constructor(
    client: KubeClient,
    report: (line: string) => void,
    { hasLargeEtcds = false }: FleetClustersOptions = {},
  ) {
    this.#hasLargeEtcds = hasLargeEtcds;
    this.#client = client;
    this.#report = report;
    this.#seen = new Informer({
      client,
      clock: systemClock,
      resource: HostedControlPlane,
      keep: ({ apiVersion, kind, metadata, ...rest }) => ({ apiVersion, kind, metadata, ...rest }),
    });
  }

  async watch(): Promise<void> {
    this.#seen.onChange(({ object }) => {
      const { namespace = '' } = object.metadata;
      if (!this.#readyAt.has(namespace) && isConverged(object)) this.#readyAt.set(namespace, performance.now());
    });
    this.#seen.start();
    await this.#seen.synced;
  }

  /** Creates clusters until there are as many. */
  async order(count: number): Promise<void> {
    const before = this.#numbers.length;
    const added = Array.from({ length: count - before }, (_, index) => before + index);
    this.#numbers = [...this.#numbers, ...added];
    resultsOf(await settleAll(added, atOnce, (number) => this.#orderOne(number)));
  }

  async #orderOne(number: number): Promise<void> {
    const { namespace, name } = nameOf(number);
    const { apiVersion, kind } = HostedControlPlane;
    await this.#client.create(
      { apiVersion: Namespace.apiVersion, kind: Namespace.kind, metadata: { name: namespace } },
      manager,
    );
    const controlPlaneRef = { apiGroup: 'controlplane.cluster.x-k8s.io', kind, name };
    const networks = { services: { cidrBlocks: ['10.128.0.0/16'] }, pods: { cidrBlocks: ['10.244.0.0/16'] } };
    const cluster: KubeObject = clusterApi.Cluster.manifest({
      metadata: { name, namespace },
      spec: { clusterNetwork: networks, controlPlaneRef },
    });
    const { metadata } = await this.#client.create(cluster, manager);
    const owner = { apiVersion: Cluster.apiVersion, kind: Cluster.kind, name, uid: metadata.uid ?? '' };
    const etcd = this.#hasLargeEtcds && number % largeEtcdEach === 0 ? { etcd: { replicas: 3 } } : {};
    const spec = { ...single, ...etcd, exposure: { loadBalancer: { port: 6443 } } };
    await this.#client.create(
      { apiVersion, kind, metadata: { name, namespace, ownerReferences: [owner] }, spec },
      manager,
    );
  }

  /** Changes the spec of every cluster. */
  async changeAll(spec: object): Promise<void> {
    await this.changeSome(this.#numbers, spec);
  }

  /** Changes the spec of the clusters of these numbers. */
  async changeSome(numbers: readonly number[], spec: object): Promise<void> {
    resultsOf(await settleAll(numbers, atOnce, (number) => this.change(number, spec)));
  }

  /** Changes the spec of one cluster. Returns its generation. */
  async change(number: number, spec: object): Promise<number> {
    const name = nameOf(number);
    const patch = () => this.#client.mergePatch(HostedControlPlane, name, { spec }, manager);
    // The connection to an API server that was killed may be noticed as late as by the deadline of a request, an etcd that is back by a 500.
    const { metadata } = await patch().catch((error: unknown) => {
      const { code = 0 } = kubeErrorOf(error) ?? {};
      if (code > 0 && code < 500) throw error;
      return patch();
    });
    const { generation = 0 } = metadata;
    this.#generations.set(name.namespace, generation);
    return generation;
  }

  /** Milliseconds from a moment until each of the clusters that were ordered after the first ones was Ready. */
  readyTimes(first: number, start: number): number[] {
    const later = this.#numbers.slice(first);
    return later.map((number) => (this.#readyAt.get(namespaceName(number)) ?? Number.NaN) - start);
  }

  /** Resolves when every cluster is Ready in its newest spec; milliseconds since `start`. */
  async untilConverged(what: string, limitMs: number, start = performance.now()): Promise<number> {
    let reportedAt = start;
    for (;;) {
      const done = this.#seen.list().filter((object) => this.#isConverged(object)).length;
      const ms = performance.now() - start;
      if (done === this.#numbers.length && this.#seen.list().length === done) return ms;
      if (performance.now() - reportedAt > 10_000) {
        reportedAt = performance.now();
        this.#report(`${what}: ${done} of ${this.#numbers.length} after ${Math.round(ms / 1000)} s`);
      }
      if (ms > limitMs) throw new Error(`${what}: ${done} of ${this.#numbers.length} in time; ${this.#blocker()}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** Changes a field without effect; milliseconds until a complete reconcile has observed it. */
  async measureReconcile(number: number): Promise<number> {
    const start = performance.now();
    const name = nameOf(number);
    const seen = Promise.withResolvers<void>();
    let generation = Infinity;
    const check = (object: HostedControlPlaneObject | undefined): void => {
      if ((object?.status?.observedGeneration ?? 0) >= generation) seen.resolve();
    };
    const forget = this.#seen.onChange(({ object }) => {
      if (object.metadata.namespace === name.namespace) check(object);
    });
    const labels = { touched: String(Math.floor(start)) };
    generation = await this.change(number, { machineTemplate: { metadata: { labels } } });
    check(this.#seen.get(name));
    await seen.promise;
    forget();
    return performance.now() - start;
  }

  /** When the newest backup of a cluster began, as its status says; undefined before the first one. */
  newestBackup(number: number): number | undefined {
    const { etcdLastBackupTime: time } = this.#seen.get(nameOf(number))?.status ?? {};
    return time === undefined ? undefined : Date.parse(time);
  }

  /** Asks for a backup of each of these clusters. @param request another one than before */
  async requestBackups(numbers: readonly number[], request: string): Promise<void> {
    const patch = { metadata: { annotations: { [backupAnnotation]: request } } };
    const ask = (number: number) => this.#client.mergePatch(HostedControlPlane, nameOf(number), patch, manager);
    resultsOf(await settleAll(numbers, atOnce, ask));
  }

  async stop(): Promise<void> {
    await this.#seen.stop();
  }

  /** What was seen may be older than the last change. */
  #isConverged(object: HostedControlPlaneObject): boolean {
    const { namespace = '', generation = 0 } = object.metadata;
    return generation >= (this.#generations.get(namespace) ?? 0) && isConverged(object);
  }

  #blocker(): string {
    const late = this.#seen.list().find((object) => !this.#isConverged(object));
    const conditions = late?.status?.conditions?.filter(({ status }) => status !== 'True') ?? [];
    return `${late?.metadata.name}: ${conditions.map(({ type, message }) => `${type}: ${message}`).join('; ')}`;
  }
}

export function clusterName(number: number): string {
  return `c${number}`;
}

export function namespaceName(number: number): string {
  return `fleet-${number}`;
}

function nameOf(number: number): { readonly namespace: string; readonly name: string } {
  return { namespace: namespaceName(number), name: clusterName(number) };
}

/** Ready in its newest spec, and the last Deployment of it is rolled out. */
function isConverged({ metadata, status }: HostedControlPlaneObject): boolean {
  return (['Ready', 'SchedulerReady'] as const).every((type) => {
    const condition = status?.conditions?.find((one) => one.type === type);
    return condition?.status === 'True' && condition.observedGeneration === metadata.generation;
  });
}
