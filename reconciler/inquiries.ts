import type { Clock } from './kube/clock.ts';
import type { Inquiries } from './scope.ts';

/** A little less than the time between two looks at everything, so that each of those asks anew. */
const keptMs = 9 * 60_000;

interface Known {
  /** What the answer depends on, as text to compare. */
  readonly basis: string;
  readonly answer: unknown;
  readonly askedAt: number;
}

/** What was asked of others, who do not tell by a watch when their answer changes. */
export class InquiryBook {
  readonly #clock: Clock;
  readonly #known = new Map<string, Map<string, Known>>();
  readonly #failingSince = new Map<string, Map<string, number>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The inquiries of one owner, such as the key of a HostedControlPlane. */
  of(owner: string): Inquiries {
    return {
      ask: (question, basis, ask) => this.#ask(owner, question, JSON.stringify(basis) ?? '', ask),
      failingSince: (question) => {
        const since = this.#failingSince.get(owner)?.get(question);
        return since === undefined ? undefined : new Date(since);
      },
    };
  }

  /** Drops what is known for an owner that is gone. */
  forget(owner: string): void {
    this.#known.delete(owner);
    this.#failingSince.delete(owner);
  }

  async #ask<T>(
    owner: string,
    question: string,
    basis: string,
    ask: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const now = this.#clock.now();
    const known = this.#known.get(owner)?.get(question);
    if (known?.basis === basis && now - known.askedAt < keptMs) return known.answer as T;
    try {
      const answer = await ask();
      if (answer === undefined) this.#known.get(owner)?.delete(question);
      else entriesOf(this.#known, owner).set(question, { basis, answer, askedAt: now });
      this.#failingSince.get(owner)?.delete(question);
      return answer;
    } catch (error) {
      this.#known.get(owner)?.delete(question);
      const failures = entriesOf(this.#failingSince, owner);
      failures.set(question, failures.get(question) ?? now);
      throw error;
    }
  }
}

function entriesOf<T>(book: Map<string, Map<string, T>>, owner: string): Map<string, T> {
  const entries = book.get(owner) ?? new Map<string, T>();
  book.set(owner, entries);
  return entries;
}
