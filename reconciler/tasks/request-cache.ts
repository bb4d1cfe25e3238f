import type { Clock } from '../kube/clock.ts';
import { answersKeptMs } from './resync.ts';

interface Known {
  /** What the answer depends on, as text to compare. */
  readonly basis: string;
  readonly answer: unknown;
  readonly holdsUntil: number;
}

/** Questions that cost a request, and whose answers no watch keeps current. */
export interface Inquiries {
  /**
   * Asks, unless the answer is known, what it depends on is the same as then, and it is younger than nine minutes. Neither
   * an answer that is undefined nor a failure is remembered.
   */
  ask<T>(question: string, dependsOn: unknown, ask: () => Promise<T | undefined>): Promise<T | undefined>;
}

/** What was asked, and answered, for whom. */
export class InquiryBook {
  readonly #clock: Pick<Clock, 'now'>;
  /** Owner → question → what is known. */
  readonly #known = new Map<string, Map<string, Known>>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** The inquiries of one owner, such as the key of a HostedControlPlane. */
  of(owner: string): Inquiries {
    return { ask: (question, basis, ask) => this.#ask(owner, question, JSON.stringify(basis) ?? '', ask) };
  }

  /** Drops what is known for an owner that is gone. */
  forget(owner: string): void {
    this.#known.delete(owner);
  }

  async #ask<T>(
    owner: string,
    question: string,
    basis: string,
    ask: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const known = this.#known.get(owner)?.get(question);
    if (known?.basis === basis && this.#clock.now() < known.holdsUntil) return known.answer as T;
    this.#known.get(owner)?.delete(question);
    const answer = await ask();
    if (answer === undefined) return undefined;
    const entries = this.#known.get(owner) ?? new Map<string, Known>();
    this.#known.set(owner, entries.set(question, { basis, answer, holdsUntil: this.#clock.now() + answersKeptMs }));
    return answer;
  }
}
