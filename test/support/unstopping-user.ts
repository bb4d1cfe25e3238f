import { setTimeout as sleep } from 'node:timers/promises';

/** Who uses something again and again, whatever happens to it meanwhile, from when it is made until {@link stop}. */
export abstract class UnstoppingUser {
  #isStopped = false;
  #work: Promise<unknown> = Promise.resolve();

  protected get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Ends the use; resolves when the last answer is there. @throws what a turn has thrown, which ended it */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#work;
  }

  /** Takes one turn after the other, with a rest in between; those that are begun several times run side by side. */
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
