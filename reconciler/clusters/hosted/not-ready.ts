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
