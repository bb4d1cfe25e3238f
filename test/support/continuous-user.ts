import { setTimeout as sleep } from 'node:timers/promises';

/** A client that repeats a request until {@link stop}, whatever happens to the server. */
export abstract class ContinuousUser {
  #isStopped = false;
  #work: Promise<unknown> = Promise.resolve();

  protected get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Stops the loops; resolves after the last answer. @throws the error of an iteration, which ended its loop */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#work;
  }

  /** Repeats `turn` with a pause in between. Several loops run side by side. */
  protected begin(restMs: number, turn: () => Promise<void>): void {
    this.#work = Promise.all([this.#work, this.#repeat(restMs, turn)]);
  }

  async #repeat(restMs: number, turn: () => Promise<void>): Promise<void> {
    while (!this.#isStopped) {
      await turn();
      await sleep(restMs);
    }
  }
}
