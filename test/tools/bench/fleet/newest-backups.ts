import type { FleetClusters } from './fleet-clusters.ts';

const everyMs = 1_000;

/** How old the newest backups of some clusters get. */
export class NewestBackups {
  readonly #clusters: Pick<FleetClusters, 'newestBackup'>;
  readonly #numbers: readonly number[];
  #oldestMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(clusters: Pick<FleetClusters, 'newestBackup'>, numbers: readonly number[]) {
    this.#clusters = clusters;
    this.#numbers = numbers;
  }

  /** Whether each of them has one. */
  get isComplete(): boolean {
    return this.#numbers.every((number) => this.#clusters.newestBackup(number) !== undefined);
  }

  /** Looks at them from now on. */
  start(): void {
    this.#timer = setInterval(() => this.#look(), everyMs);
  }

  /** Returns the highest age that the newest backup of any of them has had, in milliseconds. */
  stop(): number {
    clearInterval(this.#timer);
    this.#look();
    return this.#oldestMs;
  }

  #look(): void {
    const times = this.#numbers.map((number) => this.#clusters.newestBackup(number) ?? NaN);
    this.#oldestMs = Math.max(this.#oldestMs, Date.now() - Math.min(...times));
  }
}
