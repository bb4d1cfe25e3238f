/** A hosted cluster cannot handle a request yet. The operator retries after a while, and no intervention is needed. */
export class HostedClusterNotReady extends Error {
  override readonly name = 'HostedClusterNotReady';
  readonly afterMs: number;

  constructor(message: string, afterMs: number, cause: unknown) {
    super(message, { cause });
    this.afterMs = afterMs;
  }
}
