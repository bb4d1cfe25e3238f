import { tooLarge } from './errors.ts';
import type { KubeObject } from './object.ts';
import { knownWeight as known } from './weight.ts';

/** The room for the objects of informers. A holder is one informer, or a list of it that is not complete yet. */
export interface ObjectRoom {
  /**
   * Counts an object of the holder, or one in the place of another. Returns false if there is no room for this one: the informer goes on
   * without it. @throws KubeError if the informer cannot go on
   */
  add(holder: object, object: KubeObject, old?: KubeObject): boolean;
  /** The same of an object in a list that is not complete, while the one that it replaces is in memory, too. */
  addListed(listing: object, object: KubeObject, old?: KubeObject): boolean;
  /** These are all objects of the holder, which were counted before. */
  set(holder: object, objects: readonly KubeObject[]): void;
  remove(holder: object, old: KubeObject | undefined): void;
  /** The holder has nothing any more. */
  clear(holder: object): void;
}

/** Room that the budgets of several clusters share, each besides what it has on its own. */
export interface SharedRoom {
  readonly limitBytes: number;
  /** What each budget has on its own. */
  readonly ownBytes: number;
  usedBytes: number;
}

/** The memory that several informers and lists of one cluster share, in bytes of the heap. */
export class CacheBudget implements ObjectRoom {
  readonly #limitBytes: number;
  readonly #room: SharedRoom | undefined;
  readonly #used = new Map<object, number>();
  #bytes = 0;

  /** @param room by default without a limit of all clusters */
  constructor(limitBytes: number, room?: SharedRoom) {
    this.#limitBytes = limitBytes;
    this.#room = room;
  }

  set(holder: object, objects: readonly object[]): void {
    this.#change(
      holder,
      objects.reduce((sum, object) => sum + known(object), 0),
    );
  }

  /** @throws KubeError if that is too much */
  add(holder: object, object: object, old?: object): true {
    const own = (this.#used.get(holder) ?? 0) + known(object) - known(old);
    this.#require(this.#bytes - (this.#used.get(holder) ?? 0) + own);
    this.#change(holder, own);
    return true;
  }

  addListed(listing: object, object: object): true {
    return this.add(listing, object);
  }

  remove(holder: object, old: object | undefined): void {
    this.#change(holder, (this.#used.get(holder) ?? 0) - known(old));
  }

  clear(holder: object): void {
    this.#change(holder, 0);
    this.#used.delete(holder);
  }

  /** Nothing of the cluster is held any more. */
  close(): void {
    for (const holder of this.#used.keys()) this.clear(holder);
  }

  #change(holder: object, bytes: number): void {
    const before = this.#shared(this.#bytes);
    this.#bytes += bytes - (this.#used.get(holder) ?? 0);
    this.#used.set(holder, bytes);
    if (this.#room) this.#room.usedBytes += this.#shared(this.#bytes) - before;
  }

  #require(bytes: number): void {
    const [limit, room] = [this.#limitBytes, this.#room];
    if (bytes > limit) throw tooMuch(`are larger than ${limit / 1024 / 1024} MiB together`);
    const shared = this.#shared(bytes);
    if (room && shared > 0 && room.usedBytes - this.#shared(this.#bytes) + shared > room.limitBytes) {
      const [own, all] = [room.ownBytes / 1024 / 1024, room.limitBytes / 1024 / 1024];
      throw tooMuch(
        `are larger than ${own} MiB, and the objects of all clusters beyond that are larger than ${all} MiB`,
      );
    }
  }

  /** What of so many bytes is in the shared room. */
  #shared(bytes: number): number {
    return Math.max(0, bytes - (this.#room?.ownBytes ?? 0));
  }
}

function tooMuch(why: string): Error {
  return tooLarge(`the objects that the operator watches ${why}`);
}

/** What is kept of a server's pages until they are worked through: the names of 200,000 Secrets. */
const collectedBytes = 32 * 1024 * 1024;

/** Items that are collected from the pages of a server that may send them without end. */
export class Collection<T extends object> {
  readonly items: T[] = [];
  readonly #budget = new CacheBudget(collectedBytes);

  /** @throws KubeError when that is too much */
  add(item: T): T {
    this.#budget.add(this, item);
    this.items.push(item);
    return item;
  }
}
