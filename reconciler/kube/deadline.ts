/** Aborts one call at its deadline or when its caller aborts it. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout;
  #expired = false;

  /** @param ms time limit of the call in milliseconds */
  constructor(ms: number, caller: AbortSignal | undefined) {
    this.#caller = caller;
    this.#timer = setTimeout(() => {
      this.#expired = true;
      this.#controller.abort();
    }, ms);
    if (caller?.aborted) this.#onCallerAbort();
    caller?.addEventListener('abort', this.#onCallerAbort);
  }

  /** Aborts at the deadline or with the caller. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get expired(): boolean {
    return this.#expired;
  }

  /** Stops the deadline because the server has answered. The caller can still abort until `release`. */
  stopClock(): void {
    clearTimeout(this.#timer);
  }

  /** Ends the call. Otherwise the caller's signal would reference every call ever made with it. */
  release(): void {
    this.stopClock();
    this.#caller?.removeEventListener('abort', this.#onCallerAbort);
  }

  readonly #onCallerAbort = (): void => this.#controller.abort(this.#caller?.reason);
}

/**
 * The result of a part of a call, unless the signal aborts before. undici does not abort a request that still waits for
 * a connection: its promise may stay pending for ever.
 */
export function unlessAborted<T>(signal: AbortSignal, part: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    void part.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
