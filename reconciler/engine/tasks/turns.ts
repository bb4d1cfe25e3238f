import type { Clock } from '../../kube/clock.ts';
import { isSlow, nextTurn, type TurnDecision, type TurnLimit } from './next-turn.ts';

/**
 * What a task of a whole fleet waits for: `upload`, because each holds memory and bandwidth of the operator; `restore`, in a row
 * of its own, because slow uploads must not delay one; `listing`, because each holds the names of all objects of a folder;
 * `verification`, because each takes space on a node, several times that of a database.
 */
export type Turn = 'upload' | 'restore' | 'listing' | 'verification';

/**
 * How many tasks run at the same time. One namespace never holds all of them. A few members of one control plane are restored at
 * once, and their pods wait meanwhile. Restores wait for etcd, too, and are all slow.
 */
export const turnLimits: Readonly<Record<Turn, TurnLimit>> = {
  upload: { atOnce: 8, perNamespace: 4, slowAtOnce: 4, shareMs: 2 * 60_000 },
  restore: { atOnce: 24, perNamespace: 6, slowAtOnce: 24, shareMs: 5 * 60_000 },
  listing: { atOnce: 8, perNamespace: 4, slowAtOnce: 4, shareMs: 60_000 },
  verification: { atOnce: 2, perNamespace: 1, slowAtOnce: 2, shareMs: 15 * 60_000 },
};

/** A task that runs. */
export interface Held {
  /** Aborts when the task must stop: with the signal that was given, or because other namespaces wait. */
  readonly signal: AbortSignal;
  /** Counts bytes that the task has moved: who moves many keeps its turn. */
  readonly moved: (bytes: number) => void;
}

/** A task that does not end when its signal aborts loses its turn after this time, and goes on without one. */
const graceMs = 30_000;
/** For how long it is known that the last task of a namespace was slow. */
const slowForMs = 24 * 60 * 60_000;
/** How often it is decided whether a task must end, while others wait. */
const reviewMs = 5_000;

interface Running {
  readonly namespace: string;
  readonly since: number;
  readonly controller: AbortController;
  bytes: number;
}

interface Waiting {
  readonly namespace: string;
  readonly begin: () => void;
}

/** Lets a limited number of tasks run, as {@link nextTurn} decides. */
export class Turns {
  readonly #limit: TurnLimit;
  readonly #clock: Clock;
  readonly #waiting: Waiting[] = [];
  readonly #running: Running[] = [];
  /** When each namespace began last, as a number that grows. */
  readonly #lastBegan = new Map<string, number>();
  /** When a task of each namespace ended whose last one was slow. */
  readonly #slow = new Map<string, number>();
  #began = 0;
  #cancelReview: (() => void) | undefined;

  constructor(limit: TurnLimit, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  async run<T>(namespace: string, signal: AbortSignal, task: (held: Held) => Promise<T>): Promise<T> {
    const running = await this.#begins(namespace, signal);
    const whole = AbortSignal.any([signal, running.controller.signal]);
    try {
      whole.throwIfAborted();
      return await this.#endsInTime(whole, task({ signal: whole, moved: (bytes) => (running.bytes += bytes) }));
    } finally {
      this.#running.splice(this.#running.indexOf(running), 1);
      this.#note(running);
      this.#decide();
    }
  }

  /** @throws the reason of the signal if it aborts before */
  #begins(namespace: string, signal: AbortSignal): Promise<Running> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        signal.removeEventListener('abort', abort);
      };
      const abort = (): void => {
        leave();
        reject(signal.reason as Error);
        this.#decide();
      };
      const begin = (): void => {
        leave();
        const running = { namespace, since: this.#clock.elapsed(), controller: new AbortController(), bytes: 0 };
        this.#running.push(running);
        this.#lastBegan.set(namespace, (this.#began += 1));
        resolve(running);
      };
      const waiting: Waiting = { namespace, begin };
      this.#waiting.push(waiting);
      signal.addEventListener('abort', abort);
      this.#decide();
    });
  }

  /** The result of a task, or the reason of its signal if the task does not follow it. */
  #endsInTime<T>(signal: AbortSignal, task: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      let cancel = (): void => {};
      const abort = (): void => {
        cancel = this.#clock.setTimer(graceMs, () => reject(signal.reason as Error));
      };
      signal.addEventListener('abort', abort, { once: true });
      void task.then(resolve, reject).finally(() => {
        signal.removeEventListener('abort', abort);
        cancel();
      });
    });
  }

  #decide(): void {
    this.#cancelReview?.();
    this.#cancelReview = undefined;
    let decision = this.#next();
    for (; decision.kind === 'begin'; decision = this.#next()) this.#waiting[decision.index]?.begin();
    if (decision.kind === 'end') this.#running[decision.index]?.controller.abort(new Error(decision.why));
    if (this.#waiting.length === 0) this.#forgetRested();
    else this.#cancelReview = this.#clock.setTimer(reviewMs, () => this.#decide());
  }

  #next(): TurnDecision {
    const now = this.#clock.elapsed();
    return nextTurn({
      limit: this.#limit,
      running: this.#running.map(({ namespace, since, bytes, controller }) => ({
        namespace,
        heldMs: now - since,
        bytes,
        isEnding: controller.signal.aborted,
        wasSlow: this.#slow.has(namespace),
      })),
      waiting: this.#waiting.map(({ namespace }) => ({ namespace, wasSlow: this.#slow.has(namespace) })),
      lastBegan: this.#lastBegan,
    });
  }

  #note({ namespace, since, bytes }: Running): void {
    const now = this.#clock.elapsed();
    if (isSlow({ heldMs: now - since, bytes })) this.#slow.set(namespace, now);
    else this.#slow.delete(namespace);
    for (const [of, at] of this.#slow) if (now - at > slowForMs) this.#slow.delete(of);
  }

  /** Nothing waits, so that no order has to be kept. */
  #forgetRested(): void {
    for (const namespace of this.#lastBegan.keys())
      if (!this.#running.some((one) => one.namespace === namespace)) this.#lastBegan.delete(namespace);
  }
}
