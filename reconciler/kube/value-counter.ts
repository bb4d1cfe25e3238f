/** What a JSON text may contain. Parsed, `{}` takes twenty times the memory of its text. */
export interface ValueLimits {
  /** Objects, arrays, and their members. */
  readonly values: number;
  /** Levels of objects and arrays within each other. */
  readonly depth: number;
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Counts the values of a JSON text while it arrives, so that one with too many is neither read to its end nor parsed. */
export class ValueCounter {
  readonly #limits: ValueLimits;
  readonly #refused: (why: string) => Error;
  #values = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  /** @param refused makes the error for a text with too many */
  constructor(limits: ValueLimits, refused: (why: string) => Error) {
    this.#limits = limits;
    this.#refused = refused;
  }

  /** Begins another text. */
  reset(): void {
    this.#values = this.#depth = 0;
    this.#isInString = this.#isEscaped = false;
  }

  /** Counts the next part of the text, and returns what is in it. @throws when there are too many values */
  take(part: Uint8Array): number {
    const before = this.#values;
    for (let at = 0; at < part.length; at++) {
      const byte = part[at];
      if (this.#isInString) this.#passString(byte);
      else if (byte === quote) this.#isInString = true;
      else if (byte === comma || byte === colon) this.#values += 1;
      else if (byte === openObject || byte === openArray) this.#open();
      else if (byte === closeObject || byte === closeArray) this.#depth -= 1;
    }
    if (this.#values > this.#limits.values) throw this.#refused(`has more than ${this.#limits.values} values`);
    return this.#values - before;
  }

  #passString(byte: number | undefined): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === backslash) this.#isEscaped = true;
    else if (byte === quote) this.#isInString = false;
  }

  #open(): void {
    this.#values += 1;
    this.#depth += 1;
    if (this.#depth > this.#limits.depth) throw this.#refused(`has more than ${this.#limits.depth} levels`);
  }
}
