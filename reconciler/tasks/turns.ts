/**
 * What a task of a whole fleet waits for: `upload`, because each holds memory and bandwidth of the operator; `trialRestore`,
 * because each takes space on a node, several times that of a database.
 */
export type Turn = 'upload' | 'trialRestore';

/** How many tasks run at the same time. */
export const turnLimits: Readonly<Record<Turn, number>> = { upload: 8, trialRestore: 2 };

/** Lets a limited number of tasks run, in the order in which they came. */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(limit: number) {
    this.#free = limit;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    await this.#begin();
    try {
      return await task();
    } finally {
      this.#end();
    }
  }

  #begin(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #end(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}
