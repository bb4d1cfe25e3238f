import { tooLarge } from './errors.ts';

/** Sizes of objects, which never change. */
const sizes = new WeakMap<object, number>();

/** The memory that several informers of one cluster share, in bytes of the JSON of what they keep. */
export class CacheBudget {
  readonly #limitBytes: number;
  readonly #used = new Map<object, number>();

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Counts the objects of a list while it is read. The result throws a KubeError as soon as they are too many. */
  count(holder: object): (object: object) => void {
    let bytes = 0;
    return (object) => this.#require(holder, (bytes += sizeOf(object)));
  }

  /** These are all objects of the holder. */
  set(holder: object, objects: readonly object[]): void {
    this.#used.set(
      holder,
      objects.reduce((sum, object) => sum + sizeOf(object), 0),
    );
  }

  /** Adds an object of the holder, or replaces one. @throws KubeError if that is too much */
  add(holder: object, object: object, old: object | undefined): void {
    const bytes = (this.#used.get(holder) ?? 0) + sizeOf(object) - sizeOf(old);
    this.#require(holder, bytes);
    this.#used.set(holder, bytes);
  }

  remove(holder: object, old: object | undefined): void {
    this.#used.set(holder, (this.#used.get(holder) ?? 0) - sizeOf(old));
  }

  #require(holder: object, bytes: number): void {
    const all = [...this.#used].reduce((sum, [one, used]) => (one === holder ? sum : sum + used), bytes);
    if (all <= this.#limitBytes) return;
    throw tooLarge(
      `the objects that the operator watches are larger than ${this.#limitBytes / 1024 / 1024} MiB together`,
    );
  }
}

function sizeOf(object: object | undefined): number {
  if (!object) return 0;
  const known = sizes.get(object);
  if (known !== undefined) return known;
  const size = JSON.stringify(object).length;
  sizes.set(object, size);
  return size;
}
