import type { Clock } from './kube/clock.ts';
import type { Inquiries } from './scope.ts';

/** A little less than the time between two looks at everything, so that each of those asks anew. */
const keptMs = 9 * 60_000;
const firstRetryMs = 500;
const longestRetryMs = 30_000;

/** What came of a question. */
type Result =
  | { readonly kind: 'answered'; readonly answer: unknown }
  | { readonly kind: 'failed'; readonly error: unknown; readonly times: number };

interface Known {
  /** What the result depends on, as text to compare. */
  readonly basis: string;
  readonly result: Result;
  readonly holdsUntil: number;
}

/** What was asked of others, who do not tell by a watch when their answer changes. */
export class InquiryBook {
  readonly #clock: Pick<Clock, 'now'>;
  /** Owner → question → what is known. */
  readonly #known = new Map<string, Map<string, Known>>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** The inquiries of one owner, such as the key of a HostedControlPlane. */
  of(owner: string): Inquiries {
    return {
      ask: (question, basis, ask) => this.#ask(owner, question, JSON.stringify(basis) ?? '', ask),
      retryAt: (question) => {
        const known = this.#known.get(owner)?.get(question);
        return known?.result.kind === 'failed' ? new Date(known.holdsUntil) : undefined;
      },
    };
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
    const result = known?.basis === basis && this.#clock.now() < known.holdsUntil ? known.result : undefined;
    if (result?.kind === 'answered') return result.answer as T;
    if (result?.kind === 'failed') throw result.error;

    const note = (found: Result, forMs: number): void => {
      const entries = this.#known.get(owner) ?? new Map<string, Known>();
      this.#known.set(owner, entries.set(question, { basis, result: found, holdsUntil: this.#clock.now() + forMs }));
    };
    try {
      const answer = await ask();
      note({ kind: 'answered', answer }, answer === undefined ? 0 : keptMs);
      return answer;
    } catch (error) {
      const times = known?.basis === basis && known.result.kind === 'failed' ? known.result.times + 1 : 1;
      note({ kind: 'failed', error, times }, Math.min(longestRetryMs, firstRetryMs * 2 ** (times - 1)));
      throw error;
    }
  }
}
