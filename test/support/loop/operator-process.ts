import { EventRecorder } from '../../../reconciler/kube/events.ts';
import { objectKey } from '../../../reconciler/kube/object.ts';
import { ManagementCluster } from '../../../reconciler/management/cache.ts';
import { Reconciler } from '../../../reconciler/reconciler.ts';
import { StatusWriter } from '../../../reconciler/status/writer.ts';
import { settled } from '../manual-clock.ts';
import { MemoryClient } from '../memory-cluster/client.ts';
import { probesOf } from '../trust-probes.ts';
import { Life } from './life.ts';
import { ourName, type MemoryCluster } from './memory-cluster.ts';

const key = objectKey(ourName);

/** More passes than anything ever needs. */
const passesLimit = 60;

/** Nearer times are waited for, until all is settled; further ones are of renewals and the like. */
const soonMs = 5 * 60_000;

/** One process of the operator: everything of production that looks and writes, over a world in memory. */
export class OperatorProcess {
  readonly life: Life;
  /** What the last pass has asked for: when to look again. */
  requeueAt: Date | undefined;
  /** What passes have thrown. */
  readonly errors: unknown[] = [];
  readonly #managementCluster: MemoryCluster;
  readonly #management: ManagementCluster;
  readonly #reconciler: Reconciler;
  readonly #events: EventRecorder;

  /** @param life by default it goes on until it is ended */
  constructor(managementCluster: MemoryCluster, life = new Life()) {
    this.#managementCluster = managementCluster;
    this.life = life;
    const { clock } = managementCluster;
    const onError = (error: unknown) => void this.errors.push(error);
    const client = new MemoryClient(managementCluster.management, { before: life.whileAlive, after: life.after });
    this.#management = new ManagementCluster({ client, clock, onError });
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
      statusWriter: new StatusWriter({ client, management: this.#management, clock, onTransition: () => {} }),
      clock,
      events: this.#events,
      onHostedError: (_, error) => onError(error),
      reach: {
        hostedApi: () => new MemoryClient(managementCluster.hosted, { before: this.#beforeHosted }),
        etcd: managementCluster.etcd.open(life.whileAlive),
        trustProbes: probesOf(managementCluster.objects),
      },
    });
  }

  /** Starts a process and lets it see everything once. */
  static async start(managementCluster: MemoryCluster, life?: Life): Promise<OperatorProcess> {
    const operator = new OperatorProcess(managementCluster, life);
    await Promise.race([operator.#management.start(), operator.life.died]);
    return operator;
  }

  /** One pass, after which everything that was written has been heard of. Kubernetes does nothing meanwhile. */
  async pass(): Promise<void> {
    const ended = this.#reconciler.reconcile(key).then(
      (requeueAt) => void (this.requeueAt = requeueAt),
      (error: unknown) => {
        this.requeueAt = new Date(this.#managementCluster.clock.now());
        this.errors.push(error);
      },
    );
    await Promise.race([ended, this.life.died]);
    await Promise.race([this.#events.flush(), this.life.died]);
    await this.heard();
  }

  /** Resolves when nothing moves any more but by time or by somebody else. */
  async heard(): Promise<void> {
    for (let before = -1; before !== this.#version;) {
      before = this.#version;
      await settled();
      await settled();
    }
  }

  /**
   * Passes, with Kubernetes doing its part after each, until nothing changes any more and nothing is due soon.
   * @returns how many passes it took
   */
  async untilSettled(): Promise<number> {
    await this.heard();
    for (let passes = 1; passes <= passesLimit; passes++) {
      const before = this.#version;
      await this.pass();
      if (this.life.isOver) return passes;
      this.#managementCluster.settle();
      await this.heard();
      if (this.#version !== before) continue;
      const dueMs =
        this.requeueAt === undefined ? Infinity : this.requeueAt.getTime() - this.#managementCluster.clock.now();
      if (dueMs > soonMs) return passes;
      await this.#managementCluster.clock.advance(Math.max(dueMs, 1));
    }
    throw new Error(`not settled after ${passesLimit} passes: ${this.#problem()}`);
  }

  /** Ends it as a power cut would. */
  kill(): void {
    this.life.end();
  }

  /** Ends it as a signal does. */
  async stop(): Promise<void> {
    await this.#management.stop();
    await this.#reconciler.close();
  }

  readonly #beforeHosted = async (action: string): Promise<void> => {
    await this.life.whileAlive(`${action} in the hosted cluster`);
    this.#managementCluster.requireHostedApi();
  };

  get #version(): number {
    return this.#managementCluster.version;
  }

  #problem(): string {
    const left = this.#managementCluster.conditions.filter(({ status }) => status !== 'True');
    const messages = left.map(({ type, message }) => `${type}: ${message}`);
    return [...messages, ...this.errors.slice(-3).map(String)].join('\n');
  }
}
