/** How long an API server that was away may take to read its roles, in milliseconds; it takes seconds. */
const startMs = 60_000;

/**
 * Whether an answer 403 is a decision. An API server that has just started refuses everything until it has read its roles, and a client
 * that dials it directly does not wait for it to be ready. After a connection was lost, a refusal counts again with the first request that
 * succeeds, or when the server has answered for a minute.
 */
export class ReturnedServer {
  #isUnreachable = false;
  #answersSince: number | undefined;

  /** A connection was lost, or could not be opened. */
  noteAway(): void {
    this.#isUnreachable = true;
    this.#answersSince = undefined;
  }

  /** A request has succeeded. */
  noteSuccess(): void {
    this.#isUnreachable = false;
  }

  /** A request was refused. @param now in milliseconds, of any clock that only goes forward */
  decides(now: number): boolean {
    this.#answersSince ??= now;
    if (now - this.#answersSince >= startMs) this.#isUnreachable = false;
    return !this.#isUnreachable;
  }
}
