import { ConfigMap } from '../../constructs/api/resources.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import { UnstoppingUser } from './unstopping-user.ts';
import { until } from './until.ts';

/** A write that the API server has acknowledged. */
interface Acknowledged {
  readonly number: number;
  /** Revision of etcd that it made: a backup of that revision, or a later one, holds it. */
  readonly revision: number;
}

export interface NumberedConfigMapsOptions {
  /** A hosted cluster, by the way in that is to be judged. It is left open. */
  readonly client: KubeClient;
  /** One that there is. Default: `default`. */
  readonly namespace?: string;
  /** How many write side by side. Default: 2. */
  readonly writers?: number;
}

const label = 'test/numbered';

/** So long rests a writer after each try: a loop of failures would take the processor from what is to recover. */
const restMs = 150;

/** A write without an answer for so long is given up for the next one: it bounds the stall that a lost answer makes. */
const deadlineMs = 5_000;

/**
 * Writes one numbered ConfigMap after the other into a hosted cluster, whatever happens to it meanwhile, and knows which
 * were acknowledged: each of those has to be there afterwards.
 */
export class NumberedConfigMaps extends UnstoppingUser {
  readonly #client: KubeClient;
  readonly #namespace: string;
  readonly #acknowledged: Acknowledged[] = [];
  /** Tells the writers of one test apart that begin one after the other. */
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

  /** How many writes were acknowledged. */
  get acknowledged(): number {
    return this.#acknowledged.length;
  }

  /** Longest time between two neighbouring acknowledgements, or since the last one, in milliseconds. */
  get longestStallMs(): number {
    return Math.max(this.#longestStallMs, performance.now() - this.#lastAcknowledgedAt);
  }

  /** Waits until more writes are acknowledged. @throws with the last failure of a write when they do not come */
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
   * Numbers of acknowledged writes that are not there; none unless data was lost.
   * @param upTo only those that the backup of this revision holds; all of them by default
   * @param client where to look, if that is not where they were written
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
      // it may be there or not; the number is never used again
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
