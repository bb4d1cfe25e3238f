/** Milliseconds after which half of a use is forgotten. */
const halfLifeMs = 30_000;

/** What a group uses that is about a tenth of one worker: less of it is never much. */
const littleMs = 4_000;

interface Use {
  readonly ms: number;
  readonly at: number;
}

/** For how long each group has used workers lately. Times in milliseconds of one clock. */
export class RecentUse {
  readonly #groups = new Map<string, Use>();
  #total: Use = { ms: 0, at: 0 };

  add(group: string, ms: number, now: number): void {
    if (!this.#groups.has(group)) this.#forgetOld(now);
    this.#groups.set(group, { ms: this.of(group, now) + ms, at: now });
    this.#total = { ms: left(this.#total, now) + ms, at: now };
  }

  of(group: string, now: number): number {
    const use = this.#groups.get(group);
    return use === undefined ? 0 : left(use, now);
  }

  /** Whether a group uses more than others do on average, and not only a little. */
  isMuch(group: string, now: number): boolean {
    const ms = this.of(group, now);
    return ms > littleMs && ms > left(this.#total, now) / this.#groups.size;
  }

  #forgetOld(now: number): void {
    for (const [group, use] of this.#groups) if (left(use, now) < 1) this.#groups.delete(group);
  }
}

function left({ ms, at }: Use, now: number): number {
  return ms * 2 ** ((at - now) / halfLifeMs);
}
