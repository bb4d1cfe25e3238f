/** How often one of the keys is tried, before jitter; all are tried at most as often. */
export const probeMs = 10_000;

/**
 * Keys of a queue that failed for a reason that is not theirs, such as a server that does not answer. Only that one of them succeeds
 * shows that the reason is gone: other keys may not have met it, and a watch lives through an outage of the store behind its server.
 */
export class SharedFailures {
  /** The one whose failure is the longest ago is the first. */
  readonly #keys = new Set<string>();
  #endedAt = -Infinity;

  get isEmpty(): boolean {
    return this.#keys.size === 0;
  }

  /** Notes a failure. */
  failed(key: string, isShared: boolean): void {
    this.#keys.delete(key);
    if (isShared) this.#keys.add(key);
  }

  /**
   * Notes a success.
   * @param now in the time of Clock.elapsed
   * @returns the keys that are to be tried at once, because the reason of their failures is gone
   */
  succeeded(key: string, now: number): string[] {
    if (!this.#keys.delete(key) || now - this.#endedAt < probeMs) return [];
    this.#endedAt = now;
    const others = [...this.#keys];
    this.#keys.clear();
    return others;
  }

  /** The key to try: in turn, because one may also fail for a reason of its own. */
  nextProbe(isRunning: (key: string) => boolean): string | undefined {
    return [...this.#keys].find((key) => !isRunning(key));
  }
}
