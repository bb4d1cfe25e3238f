import { ConfigMap } from '../../constructs/api/resources.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import { ContinuousUser } from './continuous-user.ts';
import { until } from './until.ts';

/** A write that the API server has acknowledged. */
interface Acknowledged {
  readonly number: number;
  /** The etcd revision of the write: a backup of that revision, or a later one, contains it. */
  readonly revision: number;
}

export interface NumberedConfigMapsOptions {
  /** A client of a hosted cluster, through the connection that is to be measured. It is not closed. */
  readonly client: KubeClient;
  /** An existing namespace. Default: `default`. */
  readonly namespace?: string;
  /** The number of concurrent writers. Default: 2. */
  readonly writers?: number;
}

const label = 'test/numbered';

/** Pause of a writer after each try: a loop of failures would take processor time from the processes that recover. */
const restMs = 150;

/** Timeout of a write: it bounds the stall that a lost answer causes. */
const deadlineMs = 5_000;

/**
 * Writes numbered ConfigMaps into a hosted cluster without pause, whatever happens to the cluster, and records which
 * writes were acknowledged: each of those must exist afterwards.
 */
export class NumberedConfigMaps extends ContinuousUser {
  readonly #client: KubeClient;
  readonly #namespace: string;
  readonly #acknowledged: Acknowledged[] = [];
  /** Distinguishes the writers of one test that start one after the other. */
  readonly #run = Date.now().toString(36);
  #next = 0;
  #lastAcknowledgedAt = performance.now();
  #longestStallMs = 0;
  #lastError: unknown;

  constructor({ client, namespace = 'default', writers = 2 }: NumberedConfigMapsOptions) {
    super();
    this.#client = client;
    this.#namespace = namespace;
    for (let begun = 0; begun < writers; begun++) this.begin(restMs, () => this.#write());
  }

  /** The number of acknowledged writes. */
  get acknowledged(): number {
    return this.#acknowledged.length;
  }

  /** Names of the objects whose writes are acknowledged. */
  get names(): string[] {
    return this.#acknowledged.map(({ number }) => this.#name(number));
  }

  /** The longest time between two consecutive acknowledgements, or since the last one, in milliseconds. */
  get longestStallMs(): number {
    return Math.max(this.#longestStallMs, performance.now() - this.#lastAcknowledgedAt);
  }

  /** Waits until more writes are acknowledged. @throws with the last error of a write if that does not happen in time */
  async untilMore(count = 1, limitMs = 60_000): Promise<void> {
    const wanted = this.acknowledged + count;
    try {
      await until(`${count} more acknowledged writes`, () => this.acknowledged >= wanted, limitMs);
    } catch (error) {
      throw new Error(`${String(error)}; the last write failed by: ${String(this.#lastError)}`, { cause: error });
    }
  }

  override async stop(): Promise<void> {
    if (this.isStopped) return;
    this.#longestStallMs = this.longestStallMs;
    this.#lastAcknowledgedAt = Number.POSITIVE_INFINITY;
    await super.stop();
  }

  /**
   * Numbers of acknowledged writes that are missing; none unless data was lost.
   * @param upTo only those that the backup of this revision contains; by default all of them
   * @param client reads them, if not the client that wrote them
   */
  async lost(upTo = Number.POSITIVE_INFINITY, client = this.#client): Promise<number[]> {
    const labelSelector = `${label}=${this.#run}`;
    const { items } = await client.list(ConfigMap, { namespace: this.#namespace, labelSelector });
    const present = new Set(items.map(({ metadata }) => metadata.name));
    return this.#acknowledged
      .filter(({ revision, number }) => revision <= upTo && !present.has(this.#name(number)))
      .map(({ number }) => number);
  }

  async #write(): Promise<void> {
    const number = this.#next++;
    try {
      const { metadata } = await this.#client.create(this.#object(number), { fieldManager: 'test', deadlineMs });
      this.#acknowledge({ number, revision: Number(metadata.resourceVersion) });
    } catch (error) {
      // the write may have happened or not; the number is never reused
      this.#lastError = error;
    }
  }

  #acknowledge(write: Acknowledged): void {
    this.#acknowledged.push(write);
    if (this.isStopped) return;
    const now = performance.now();
    this.#longestStallMs = Math.max(this.#longestStallMs, now - this.#lastAcknowledgedAt);
    this.#lastAcknowledgedAt = now;
  }

  #object(number: number) {
    const labels = { [label]: this.#run };
    const metadata = { namespace: this.#namespace, name: this.#name(number), labels };
    return { apiVersion: ConfigMap.apiVersion, kind: ConfigMap.kind, metadata, data: { number: String(number) } };
  }

  #name(number: number): string {
    return `number-${this.#run}-${number}`;
  }
}
