import { backOff } from '../kube/back-off.ts';
import type { Clock } from '../kube/clock.ts';
import { kubeErrorOf } from '../kube/errors.ts';
import { HostedClusterNotReady } from './not-ready.ts';

const delays = { firstMs: 1_000, longestMs: 15_000 };

/**
 * Keeps away from an API server that does not answer. One that is silent costs whoever asks seconds, and many such
 * clusters would take all worker slots from those that are well.
 */
export class Outage {
  readonly #clock: Pick<Clock, 'now'>;
  #failures = 0;
  #current: { readonly error: Error; readonly until: number } | undefined;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Runs it. @throws HostedClusterNotReady when the server does not answer, and at once for a while after that */
  async guard<T>(work: () => Promise<T>): Promise<T> {
    if (this.#remainingMs > 0) throw this.#notReady();
    try {
      const result = await work();
      this.#failures = 0;
      return result;
    } catch (error) {
      if (!(error instanceof Error) || !isAway(error)) throw error;
      this.#begin(error);
      throw this.#notReady();
    }
  }

  get #remainingMs(): number {
    return this.#current === undefined ? 0 : this.#current.until - this.#clock.now();
  }

  /** Those that fail side by side have met one outage. */
  #begin(error: Error): void {
    if (this.#remainingMs > 0) return;
    const delayMs = backOff(delays, ++this.#failures);
    this.#current = { error, until: this.#clock.now() + delayMs };
  }

  #notReady(): HostedClusterNotReady {
    const error = this.#current?.error;
    return new HostedClusterNotReady(
      `the API server does not answer: ${error?.message ?? ''}`,
      this.#remainingMs,
      error,
    );
  }
}

/** No answer, or none of its own. A 500 is an answer to one request, such as that of a webhook of the user that fails. */
function isAway(error: Error): boolean {
  const code = kubeErrorOf(error)?.code;
  return code !== undefined && [0, 429, 502, 503, 504].includes(code);
}
