import { backOff } from '../../kube/back-off.ts';
import type { Clock } from '../../kube/clock.ts';
import { isTooLarge, kubeErrorOf } from '../../kube/errors.ts';

/** A hosted cluster cannot handle a request yet. The operator retries after a while, and no intervention is needed. */
export class HostedClusterNotReady extends Error {
  override readonly name = 'HostedClusterNotReady';
  readonly afterMs: number;

  constructor(message: string, afterMs: number, cause: unknown) {
    super(message, { cause });
    this.afterMs = afterMs;
  }
}

/** The error if it says that a hosted cluster is not ready, or the first one if all of several do. */
export function notReadyIn(error: unknown): HostedClusterNotReady | undefined {
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
  const found = errors.filter((one) => one instanceof HostedClusterNotReady);
  return found.length === errors.length ? found[0] : undefined;
}

/** Every attempt reads as much as is allowed. */
const tooLargeRestMs = 60_000;
const delays = { firstMs: 1_000, longestMs: 15_000 };

/**
 * Delays requests to an API server that does not answer. Each request to a silent server takes seconds, and many such
 * clusters would block the workers for all healthy ones.
 */
export class Outage {
  readonly #clock: Pick<Clock, 'now'>;
  #failures = 0;
  #current: { readonly error: Error; readonly until: number } | undefined;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /**
   * Runs the work. @throws HostedClusterNotReady when the server does not answer, and immediately for a while after
   * that
   */
  async guard<T>(work: () => Promise<T>): Promise<T> {
    if (this.#remainingMs > 0) throw this.#notReady();
    try {
      const result = await work();
      this.#failures = 0;
      return result;
    } catch (error) {
      if (!(error instanceof Error) || !isUnreachable(error)) throw error;
      this.#begin(error);
      throw this.#notReady();
    }
  }

  get #remainingMs(): number {
    return this.#current === undefined ? 0 : this.#current.until - this.#clock.now();
  }

  /** Concurrent failures belong to one outage. */
  #begin(error: Error): void {
    if (this.#remainingMs > 0) return;
    const delayMs = isTooLarge(error) ? tooLargeRestMs : backOff(delays, ++this.#failures);
    this.#current = { error, until: this.#clock.now() + delayMs };
  }

  #notReady(): HostedClusterNotReady {
    const error = this.#current?.error;
    const what = isTooLarge(error)
      ? 'the operator does not read the answer of the API server'
      : 'the API server does not answer';
    return new HostedClusterNotReady(`${what}: ${error?.message ?? ''}`, this.#remainingMs, error);
  }
}

/** No answer, or one of a proxy. A 500 is an answer to one request, for example because a user's webhook fails. */
function isUnreachable(error: Error): boolean {
  const code = kubeErrorOf(error)?.code;
  return code !== undefined && [0, 429, 502, 503, 504].includes(code);
}
