import type { Clock } from '../../kube/clock.ts';
import { answersKeptMs } from './resync.ts';

interface Known {
  /** What the answer depends on, as text to compare. */
  readonly inputsKey: string;
  readonly answer: unknown;
  readonly holdsUntil: number;
}

interface Question {
  readonly owner: string;
  readonly question: string;
  readonly inputsKey: string;
  readonly keptMs: number;
}

/** A cache for requests whose answers no watch keeps current. */
export interface RequestCache {
  /**
   * Sends the request, unless its answer is cached for the same inputs and is younger than nine minutes, or than `keptMs`.
   * Undefined answers and failures are not cached.
   */
  ask<T>(
    question: string,
    dependsOn: unknown,
    ask: () => Promise<T | undefined>,
    keptMs?: number,
  ): Promise<T | undefined>;
}

/** The request caches of all owners. */
export class RequestCaches {
  readonly #clock: Pick<Clock, 'now'>;
  /** Owner → question → cached answer. */
  readonly #known = new Map<string, Map<string, Known>>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** The cache of one owner, such as the key of a HostedControlPlane. */
  of(owner: string): RequestCache {
    return {
      ask: (question, inputsKey, ask, keptMs = answersKeptMs) =>
        this.#ask({ owner, question, inputsKey: JSON.stringify(inputsKey) ?? '', keptMs }, ask),
    };
  }

  /** Drops all answers for an owner that is gone. */
  forget(owner: string): void {
    this.#known.delete(owner);
  }

  async #ask<T>(
    { owner, question, inputsKey, keptMs }: Question,
    ask: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const known = this.#known.get(owner)?.get(question);
    if (known?.inputsKey === inputsKey && this.#clock.now() < known.holdsUntil) return known.answer as T;
    this.#known.get(owner)?.delete(question);
    const answer = await ask();
    if (answer === undefined) return undefined;
    const entries = this.#known.get(owner) ?? new Map<string, Known>();
    this.#known.set(owner, entries.set(question, { inputsKey, answer, holdsUntil: this.#clock.now() + keptMs }));
    return answer;
  }
}
