/** Ends one call when its time is up or when its caller gives up. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout;
  #expired = false;

  /** @param ms time for the call, in milliseconds */
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

  /** The call was answered in time; its caller may still abort what follows, until `release`. */
  stopClock(): void {
    clearTimeout(this.#timer);
  }

  /** The call is over. Without this a caller's signal would hold on to every call ever made with it. */
  release(): void {
    this.stopClock();
    this.#caller?.removeEventListener('abort', this.#onCallerAbort);
  }

  readonly #onCallerAbort = (): void => this.#controller.abort(this.#caller?.reason);
}
