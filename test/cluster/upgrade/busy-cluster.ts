import { ContinuousLoad, kubeletPath } from '../../support/continuous-load.ts';
import { warningsIn } from '../../support/pod-states.ts';
import { until } from '../../support/until.ts';
import type { FurtherMinor } from '../../tools/testbed/further-minor.ts';
import { openHostedApi } from '../../tools/testbed/hosted-api.ts';
import type { Instance } from '../../tools/testbed/instance.ts';
import type { Machine } from '../../tools/testbed/machine.ts';
import { addWorker, withHostedApi, type Worker } from '../../tools/testbed/workers.ts';
import { byEnvironment, clientPod } from '../access/client-pod.ts';
import { type JoinableCluster, openJoinableCluster } from '../workers/joinable-cluster.ts';
import { expectServes } from '../workers/expect-serves.ts';
import { NodeWatcher } from '../workers/node-watcher.ts';
import { eventsLostBy, failuresOf } from './load-result.ts';
import { UpgradeStages } from './upgrade-stages.ts';

const limitMs = 300_000;

export interface BusyClusterOptions {
  readonly namespace: string;
  /** The first version of the control plane, which its worker keeps. */
  readonly first: FurtherMinor;
  /** The versions to come whose add-ons the worker is to run. */
  readonly next: readonly FurtherMinor[];
  /** What the spec has besides its version, two API servers and three members of etcd. */
  readonly spec: { readonly etcd?: object; readonly exposure: object };
  /** The minor that a version of etcd belongs to, where the spec names it. */
  readonly givenEtcd?: Readonly<Record<string, number>>;
  /** What the testbed needs for it. */
  readonly before?: (instance: Instance) => Promise<void>;
}

/**
 * A highly available control plane with a worker of its first version, and users that never stop while it changes its version:
 * a writer, a watcher, calls through the worker, and a pod that asks its API server.
 */
export class BusyCluster {
  readonly cluster: JoinableCluster;
  readonly worker: Worker;
  readonly stages: UpgradeStages;
  readonly #load: ContinuousLoad;
  readonly #node: NodeWatcher;

  private constructor(
    cluster: JoinableCluster,
    worker: Worker,
    users: { load: ContinuousLoad; node: NodeWatcher; stages: UpgradeStages },
  ) {
    this.cluster = cluster;
    this.worker = worker;
    this.#load = users.load;
    this.#node = users.node;
    this.stages = users.stages;
  }

  static async open({ namespace, first, next, spec, givenEtcd, before }: BusyClusterOptions): Promise<BusyCluster> {
    const { version } = first;
    const etcd = { replicas: 3, ...spec.etcd };
    const cluster = await openJoinableCluster(namespace, { ...spec, version, replicas: 2, etcd }, before);
    try {
      const { bench, api, instance } = cluster;
      const equip = async (machine: Machine) => {
        await first.equip(machine);
        for (const { provideAddOns } of next) await provideAddOns(machine);
      };
      const worker = await addWorker(instance, api, undefined, { equip });
      await expectServes(cluster, worker, first.kubelet);
      await cluster.apply(askingPod(instance, worker.name));
      await cluster.kubectl(['wait', `pod/${asking}`, '--for=condition=Ready', '--timeout=60s']);
      const open = async () => (await openHostedApi(instance, bench.client, api)).client;
      return new BusyCluster(cluster, worker, {
        load: new ContinuousLoad({ path: kubeletPath(worker.name), open }),
        node: new NodeWatcher(worker.name, (work) => withHostedApi(instance, api, work)),
        stages: new UpgradeStages(bench, api.name, api.client, givenEtcd),
      });
    } catch (error) {
      await cluster.close();
      throw error;
    }
  }

  /** The versions that API servers run, and how many of each. */
  async versions() {
    return (await this.cluster.bench.get(this.cluster.api.name)).status?.versions;
  }

  /** Verifies that the first worker still serves, with this version of its kubelet. */
  expectServes(version: string): Promise<void> {
    return expectServes(this.cluster, this.worker, version);
  }

  /** Adds a worker of this version, and verifies that it serves. */
  async expectJoins({ kubelet, equip }: FurtherMinor): Promise<void> {
    const { cluster } = this;
    await expectServes(cluster, await addWorker(cluster.instance, cluster.api, undefined, { equip }), kubelet);
  }

  /**
   * Changes the version, without a hold unless the changes have one, and prints what is waited for.
   * @returns the versions that API servers run then
   * @param changes of other fields of the spec
   */
  async upgrade(version: string, changes: object = {}) {
    const { bench, api } = this.cluster;
    const begun = performance.now();
    await bench.patch(api.name, { spec: { upgrade: { hold: '0s' }, ...changes, version } });
    await bench.untilRolledOut(api.name, (waitsFor) =>
      console.log(`${((performance.now() - begun) / 1000).toFixed(1)} s: ${waitsFor}`),
    );
    return this.versions();
  }

  /** The versions of the members of etcd, once all are the wanted one and the control plane is Ready. */
  async etcdOnce(wanted: string) {
    const { bench, api } = this.cluster;
    let running: readonly (string | undefined)[] = [];
    const isWanted = async () => {
      running = (await bench.get(api.name)).status?.etcd?.members?.map(({ version }) => version) ?? [];
      return running.length > 0 && running.every((version) => version === wanted);
    };
    await until(`etcd ${wanted}`, isWanted, limitMs, () => running);
    await bench.untilReady(api.name);
    return running;
  }

  /** Ends all users, and returns what they have seen that must not be, and who has seen too little. */
  async end(): Promise<string[]> {
    const load = this.#load;
    const lost = await eventsLostBy(load);
    const { asked, failures } = await this.#askedByPod();
    await this.#stop();
    const { writes, calls, events } = load;
    const { samples, problems } = this.stages;
    console.log(JSON.stringify({ writes, calls, events, samples, nodeReads: this.#node.reads, askedByPod: asked }));
    const failed = [...failuresOf(load), ...failures];
    const counts = {
      writes: [writes.answered, 100],
      'requests of the pod': [asked, 10],
      samples: [samples, 10],
    } as const;
    const tooFew = Object.entries(counts).flatMap(([what, [count, least]]) =>
      count > least ? [] : [`${count} ${what}`],
    );
    const all = [...failed, ...lost, ...problems, ...this.#node.problems, ...tooFew];
    const { client, namespace } = this.cluster.bench;
    if (all.length > 0) for (const line of await warningsIn(client, namespace)) console.log(line);
    return all;
  }

  /** Removes it, whatever has become of its users. */
  async close(): Promise<void> {
    await this.#stop();
    await this.cluster.close();
  }

  async #stop(): Promise<void> {
    await Promise.all([this.#load.stop(), this.#node.stop(), this.stages.stop()]);
  }

  async #askedByPod(): Promise<{ readonly asked: number; readonly failures: readonly string[] }> {
    const read = (file: string) => this.cluster.kubectl(['exec', asking, '--', 'cat', file]);
    const failures = (await read('/tmp/failures')).split('\n').filter((line) => line !== '');
    return { asked: (await read('/tmp/asked')).length, failures };
  }
}

const asking = 'asking';

/** Asks its API server every second, at once a second time without an answer, and keeps what failed. */
function askingPod(instance: Instance, node: string): object {
  const script = `
    ask() { timeout 10 ${byEnvironment} auth whoami >/dev/null 2>/tmp/why; }
    touch /tmp/failures
    while true; do
      ask || ask || echo "$(date -u) $(cat /tmp/why)" >>/tmp/failures
      printf . >>/tmp/asked
      sleep 1
    done`;
  return clientPod(instance, asking, node, ['sh', '-c', script]);
}
