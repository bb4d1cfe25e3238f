import type { webcrypto } from 'node:crypto';
import type { Clock } from '../../reconciler/kube/clock.ts';

/** What WebCrypto has not answered: threads make keys and certificates, in times that no manual clock sees. */
const computing = new Set<Promise<unknown>>();

for (const name of ['digest', 'generateKey', 'sign', 'verify', 'importKey', 'exportKey'] as const) {
  const call = SubtleCrypto.prototype[name] as (...args: unknown[]) => Promise<unknown>;
  const observed = function (this: webcrypto.SubtleCrypto, ...args: unknown[]): Promise<unknown> {
    const answer = call.apply(this, args).finally(() => computing.delete(answer));
    computing.add(answer);
    return answer;
  };
  Object.defineProperty(SubtleCrypto.prototype, name, { value: observed });
}

/** A clock that advances only when a test advances it. */
export class ManualClock implements Clock {
  #now: number;
  #setBy = 0;
  readonly #timers = new Set<{ readonly dueAt: number; readonly callback: () => void }>();

  constructor(now = Date.parse('2026-01-01T00:00:00Z')) {
    this.#now = now;
  }

  /** How many timers are waiting. */
  get pending(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#now + this.#setBy;
  }

  elapsed(): number {
    return this.#now;
  }

  /** Sets the time of the machine, as an administrator or NTP does. No timer becomes due. */
  setTime(byMs: number): void {
    this.#setBy += byMs;
  }

  setTimer(delayMs: number, callback: () => void): () => void {
    const timer = { dueAt: this.#now + delayMs, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Advances the time: timers that become due fire in order, and their effects complete before the next one fires. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settled();
    for (let next = this.#nextDue(end); next; next = this.#nextDue(end)) {
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.dueAt);
      next.callback();
      await settled();
    }
    this.#now = end;
  }

  #nextDue(end: number): { readonly dueAt: number; readonly callback: () => void } | undefined {
    return [...this.#timers].filter(({ dueAt }) => dueAt <= end).sort((a, b) => a.dueAt - b.dueAt)[0];
  }
}

/** Resolves when all promises have settled that need no I/O, and those of WebCrypto. */
export async function settled(): Promise<void> {
  do await new Promise((resolve) => void setImmediate(resolve));
  while (computing.size > 0);
}
