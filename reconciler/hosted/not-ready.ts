/** A hosted cluster cannot do it yet, and will without anybody's help: it is to be asked again after a while. */
export class HostedClusterNotReady extends Error {
  override readonly name = 'HostedClusterNotReady';
  readonly afterMs: number;

  constructor(message: string, afterMs: number, cause: unknown) {
    super(message, { cause });
    this.afterMs = afterMs;
  }
}
