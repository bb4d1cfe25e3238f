import { setTimeout as sleep } from 'node:timers/promises';
import type { EtcdProcesses } from './etcd-processes.ts';

/** Every change of members still meets writes, which without a rest would take all of the processors. */
const restMs = 5;

/** A member without a vote refuses every write: it is asked again ten times a second. */
const afterRefusalMs = 100;

/** Writes numbered keys while members are added and removed, and records the acknowledged ones. */
export class NumberedWriter {
  readonly #cluster: EtcdProcesses;
  readonly #acknowledged: number[] = [];
  #isStopped = false;
  readonly #work: Promise<void>;

  constructor(cluster: EtcdProcesses) {
    this.#cluster = cluster;
    this.#work = this.#write();
  }

  get acknowledged(): number {
    return this.#acknowledged.length;
  }

  /** Stops writing; resolves with the acknowledged numbers that are missing. */
  async stop(): Promise<number[]> {
    this.#isStopped = true;
    await this.#work;
    const keys = this.#cluster.keys();
    const present = new Set(await keys.getAll().prefix('number/').keys());
    keys.close();
    return this.#acknowledged.filter((number) => !present.has(`number/${number}`));
  }

  async #write(): Promise<void> {
    for (let number = 0; !this.#isStopped; number += 1) {
      // A new client now and then, so that new members are used, too.
      const keys = this.#cluster.keys();
      try {
        for (; number % 100 !== 99 && !this.#isStopped; number += 1) {
          await keys.put(`number/${number}`).value('x');
          this.#acknowledged.push(number);
          await sleep(restMs);
        }
      } catch {
        // Not acknowledged, so it may exist or not.
        await sleep(afterRefusalMs);
      } finally {
        keys.close();
      }
    }
  }
}
