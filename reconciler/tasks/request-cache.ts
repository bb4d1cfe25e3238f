import type { Clock } from '../kube/clock.ts';
import { answersKeptMs } from './resync.ts';

interface Known {
  /** What the answer depends on, as text to compare. */
  readonly inputsKey: string;
  readonly answer: unknown;
  readonly holdsUntil: number;
}

/** Questions that cost a request, and whose answers no watch keeps current. */
export interface RequestCache {
  /**
   * Asks, unless the answer is known, what it depends on is the same as then, and it is younger than nine minutes. Neither
   * an answer that is undefined nor a failure is remembered.
   */
  ask<T>(question: string, dependsOn: unknown, ask: () => Promise<T | undefined>): Promise<T | undefined>;
}

/** What was asked, and answered, for whom. */
export class RequestCaches {
  readonly #clock: Pick<Clock, 'now'>;
  /** Owner → question → what is known. */
  readonly #known = new Map<string, Map<string, Known>>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** The inquiries of one owner, such as the key of a HostedControlPlane. */
  of(owner: string): RequestCache {
    return { ask: (question, inputsKey, ask) => this.#ask(owner, question, JSON.stringify(inputsKey) ?? '', ask) };
  }

  /** Drops what is known for an owner that is gone. */
  forget(owner: string): void {
    this.#known.delete(owner);
  }

  async #ask<T>(
    owner: string,
    question: string,
    inputsKey: string,
    ask: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const known = this.#known.get(owner)?.get(question);
    if (known?.inputsKey === inputsKey && this.#clock.now() < known.holdsUntil) return known.answer as T;
    this.#known.get(owner)?.delete(question);
    const answer = await ask();
    if (answer === undefined) return undefined;
    const entries = this.#known.get(owner) ?? new Map<string, Known>();
    this.#known.set(owner, entries.set(question, { inputsKey, answer, holdsUntil: this.#clock.now() + answersKeptMs }));
    return answer;
  }
}
