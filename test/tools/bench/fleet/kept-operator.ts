import { setTimeout } from 'node:timers/promises';
import type { OperatorProcess } from './operator-process.ts';

/** Between two looks at the operator. */
const everyMs = 100;

/** The operator with what a kubelet does for it: it looks whether it lives, and starts it again when it has ended. */
export class KeptOperator {
  readonly #start: () => Promise<OperatorProcess>;
  #operator: OperatorProcess;
  #isStopping = false;
  #ends = 0;
  #peak = 0;
  #longestAnswerMs = 0;
  readonly #keeping: Promise<void>;
  readonly #weighing = setInterval(() => void this.#weigh(), everyMs);

  private constructor(start: () => Promise<OperatorProcess>, operator: OperatorProcess) {
    this.#start = start;
    this.#operator = operator;
    this.#keeping = this.#keep();
  }

  static async start(start: () => Promise<OperatorProcess>): Promise<KeptOperator> {
    return new KeptOperator(start, await start());
  }

  /** How often it has ended since {@link forget}. */
  get ends(): number {
    return this.#ends;
  }

  /** The longest time that it took to say that it lives, since {@link forget}: how long it did nothing else meanwhile. */
  get longestAnswerMs(): number {
    return this.#longestAnswerMs;
  }

  /** Counts from now on, but for memory. */
  forget(): void {
    this.#longestAnswerMs = 0;
    this.#ends = 0;
  }

  /** Resident memory in bytes, now and at its highest, of each process that it had. */
  async memory(): Promise<{ readonly now: number; readonly peak: number }> {
    const { now, peak } = await this.#operator.memory();
    return { now, peak: Math.max(this.#peak, peak) };
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    clearInterval(this.#weighing);
    await this.#keeping;
    await this.#operator.stop();
  }

  async #keep(): Promise<void> {
    while (!this.#isStopping) {
      if (this.#operator.isRunning) await this.#look();
      else await this.#startAgain();
      await setTimeout(everyMs);
    }
  }

  async #look(): Promise<void> {
    const answerMs = await this.#operator.answerMs();
    this.#longestAnswerMs = Math.max(this.#longestAnswerMs, answerMs);
  }

  /** While it may be about to end, which takes its highest with it. */
  async #weigh(): Promise<void> {
    const { peak } = await this.#operator.memory().catch(() => ({ peak: 0 }));
    this.#peak = Math.max(this.#peak, peak || 0);
  }

  async #startAgain(): Promise<void> {
    this.#ends += 1;
    // One that ends before it is ready has ended, too.
    this.#operator = await this.#start().catch(() => this.#operator);
  }
}
