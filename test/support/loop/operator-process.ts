import { setTimeout as sleep } from 'node:timers/promises';
import type { PlatformLists } from '../../../constructs/cluster/platform-lists.ts';
import { ComparedClock } from '../../../reconciler/kube/compared-clock.ts';
import { EventRecorder } from '../../../reconciler/kube/events.ts';
import { objectKey } from '../../../reconciler/kube/object.ts';
import { ManagementCluster } from '../../../reconciler/clusters/management/cache.ts';
import type { Quarantine } from '../../../reconciler/reconcile/quarantine/quarantine.ts';
import { Reconciler } from '../../../reconciler/reconcile/reconciler.ts';
import { reportTransition } from '../../../reconciler/reconcile/status/transition.ts';
import { StatusWriter } from '../../../reconciler/reconcile/status/writer.ts';
import { createLogger } from '../../../reconciler/engine/log.ts';
import { settled } from '../manual-clock.ts';
import { MemoryClient } from '../memory-cluster/client.ts';
import { Life } from './life.ts';
import type { MemoryCluster } from './memory-cluster.ts';
import { reachOf } from './reach.ts';
import { operatorUser } from './shipped-rights.ts';

const silentLog = createLogger({ format: 'json', level: 'error' }, { write: () => {} });

/** More reconciles than any scenario needs. */
const reconcileLimit = 60;

/** Requeues within this time are waited for until all is settled; later ones are renewals and the like. */
const soonMs = 5 * 60_000;

/** No request to a store of a test takes so long. */
const holdsWithinMs = 60_000;

/** What is awaited beside reconciles is a request to a server of this process. */
const pauseMs = 5;

/** Flags of the operator. */
export interface OperatorFlags {
  /** By default it reconciles every HostedControlPlane. */
  readonly watchFilter?: string;
  /** What it allows of annotations and classes. By default what an installation does. */
  readonly platformLists?: PlatformLists;
  /** Which control planes have ended the processes before this one. */
  readonly quarantine?: Quarantine;
  /** The memory of the process. By default as much as the tests ever need. */
  readonly heapBytes?: number;
  /** Whether it is the trial of a control plane in quarantine. */
  readonly isSecondProcess?: boolean;
}

/** One operator process: all production code that reads and writes, with an in-memory cluster. */
export class OperatorProcess {
  readonly life: Life;
  /** The time at which the last reconcile asked to be requeued. */
  requeueAt: Date | undefined;
  /** What reconciles have thrown. */
  readonly errors: unknown[] = [];
  readonly #managementCluster: MemoryCluster;
  readonly #management: ManagementCluster;
  readonly #reconciler: Reconciler;
  readonly #events: EventRecorder;
  readonly #clock: ComparedClock;
  /** Keys of HostedControlPlanes of which something has changed that no watch of the management cluster's labels reports. */
  readonly #news = new Set<string>();

  /** @param life by default the process runs until {@link stop} or {@link kill} */
  constructor(
    managementCluster: MemoryCluster,
    life = new Life(),
    { watchFilter, platformLists, quarantine, isSecondProcess, heapBytes }: OperatorFlags = {},
  ) {
    this.#managementCluster = managementCluster;
    this.life = life;
    const { clock: machine } = managementCluster;
    const clock = new ComparedClock(machine);
    this.#clock = clock;
    const onError = (error: unknown) => void this.errors.push(error);
    const client = new MemoryClient(managementCluster.management, operatorUser(), {
      before: life.whileAlive,
      after: life.after,
      onPermitted: (request) => {
        managementCluster.used.record(request);
        clock.take({ date: new Date(machine.elapsed()).toUTCString(), tookMs: 0 });
      },
    });
    const { watchNamespace: namespace } = managementCluster;
    this.#management = new ManagementCluster({ client, clock, namespace, watchFilter, heapBytes, onError });
    this.#events = new EventRecorder({
      client,
      clock,
      reportingController: 'test/operator',
      reportingInstance: 'test',
      onError,
    });
    this.#reconciler = new Reconciler({
      client,
      management: this.#management,
      statusWriter: new StatusWriter({
        client,
        management: this.#management,
        clock,
        onTransition: (transition) => reportTransition(transition, silentLog, this.#events),
      }),
      clock,
      events: this.#events,
      quarantine,
      isSecondProcess,
      onWatchError: onError,
      platformLists,
      operatorImage: managementCluster.operatorImage,
      newestRevision: managementCluster.newestRevision,
      onHostedError: (_, error) => onError(error),
      reach: reachOf(managementCluster, life),
    });
    this.#reconciler.onChange((key) => this.#news.add(key));
    this.#management.onRoomChange((namespace) => {
      for (const { name } of managementCluster.all.filter(({ place }) => place.namespace === namespace))
        this.#news.add(objectKey(name));
    });
  }

  /** Whether something has changed since the last reconcile began that no watch of the management cluster's labels reports. */
  get hasNews(): boolean {
    return this.#news.has(objectKey(this.#managementCluster.name));
  }

  /** Starts a process and waits until its caches have synced. */
  static async start(managementCluster: MemoryCluster, life?: Life, flags?: OperatorFlags): Promise<OperatorProcess> {
    // No two processes start in the same millisecond, by which events are named.
    await managementCluster.clock.advance(1);
    const operator = new OperatorProcess(managementCluster, life, flags);
    await Promise.race([operator.#management.start(), operator.life.died]);
    return operator;
  }

  /**
   * One reconcile of a HostedControlPlane, by default the sample. Resolves when the caches have seen everything that was written. Kubernetes' controllers do nothing meanwhile.
   */
  async reconcile(
    name = this.#managementCluster.name.name,
    namespace = this.#managementCluster.place.namespace,
  ): Promise<void> {
    const key = objectKey({ namespace, name });
    this.#news.delete(key);
    const ended = this.#reconciler.reconcile(key).then(
      (requeueAt) => void (this.requeueAt = requeueAt),
      (error: unknown) => {
        this.requeueAt = new Date(this.#clock.now());
        this.errors.push(error);
      },
    );
    await Promise.race([ended, this.life.died]);
    await Promise.race([this.#events.flush(), this.life.died]);
    await this.untilObserved();
  }

  /** Resolves when the caches have seen every change and nothing changes any more without time or another client. */
  async untilObserved(): Promise<void> {
    for (let before = -1; before !== this.#version;) {
      before = this.#version;
      await settled();
      await settled();
    }
  }

  /**
   * Reconciles, and lets Kubernetes' controllers act after each reconcile, until nothing changes any more and no requeue is due
   * soon.
   * @param cluster one of those in the management cluster, by default the sample
   * @returns the number of reconciles
   */
  async untilSettled(cluster = this.#managementCluster): Promise<number> {
    const { name, namespace } = cluster.name;
    await this.untilObserved();
    for (let reconciles = 1; reconciles <= reconcileLimit; reconciles++) {
      const before = this.#version;
      await this.reconcile(name, namespace);
      if (this.life.isOver) return reconciles;
      cluster.settle();
      await this.untilObserved();
      if (this.#version !== before || this.#news.has(objectKey(cluster.name))) continue;
      const dueMs = this.requeueAt === undefined ? Infinity : this.requeueAt.getTime() - this.#clock.now();
      if (dueMs > soonMs) return reconciles;
      await this.#managementCluster.clock.advance(Math.max(dueMs, 1));
    }
    throw new Error(`not settled after ${reconcileLimit} reconciles: ${this.#problem(cluster)}`);
  }

  /** Reconciles this often, and lets Kubernetes' controllers act after each. */
  async rounds(count: number): Promise<void> {
    for (let round = 0; round < count; round++) {
      await this.reconcile();
      this.#managementCluster.settle();
      await this.untilObserved();
    }
  }

  /**
   * Rounds until a condition holds, or the process has ended: requests to a store take real time.
   * @param stepMs how much time of the cluster passes after each round
   * @throws what the control plane lacks, if it has not held for a minute
   */
  async reconcileUntil(what: string, holds: () => boolean, stepMs = 0): Promise<void> {
    const end = performance.now() + holdsWithinMs;
    while (performance.now() < end) {
      await this.rounds(1);
      if (holds() || this.life.isOver) return;
      await sleep(pauseMs);
      await this.#managementCluster.clock.advance(stepMs);
    }
    throw new Error(`waited in vain for: ${what}\n${this.#problem(this.#managementCluster)}`);
  }

  /** Ends the process as SIGKILL would. */
  kill(): void {
    this.life.end();
  }

  /** Ends the process as SIGTERM does. */
  async stop(): Promise<void> {
    await this.#management.stop();
    await this.#reconciler.close();
  }

  get #version(): number {
    return this.#managementCluster.version;
  }

  #problem({ conditions }: MemoryCluster): string {
    const left = conditions.filter(({ status }) => status !== 'True');
    const messages = left.map(({ type, message }) => `${type}: ${message}`);
    return [...messages, ...this.errors.slice(-3).map(String)].join('\n');
  }
}
