import { setTimeout } from 'node:timers/promises';
import type { OperatorProcess } from './operator-process.ts';

/** As Prometheus is told by the monitors of the installation. */
const periodMs = 30_000;

/** Scrapes the metrics as Prometheus does, also of an operator that was started again. */
export class Scrapes {
  readonly times: number[] = [];
  readonly #ended = new AbortController();
  readonly #work: Promise<void>;

  /** @param operator the one that runs */
  constructor(operator: () => Pick<OperatorProcess, 'scrape' | 'isRunning'>) {
    this.#work = this.#scrapeAgainAndAgain(operator);
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#work;
  }

  async #scrapeAgainAndAgain(operator: () => Pick<OperatorProcess, 'scrape' | 'isRunning'>): Promise<void> {
    const { signal } = this.#ended;
    for (;;) {
      await setTimeout(periodMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      const scraped = await operator()
        .scrape()
        // It is being started again.
        .catch(() => undefined);
      if (scraped) this.times.push(scraped.ms);
    }
  }
}
