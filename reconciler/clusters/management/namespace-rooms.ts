import type { ObjectRoom } from '../../kube/cache-budget.ts';
import { describeObject, type KubeObject } from '../../kube/object.ts';
import { knownWeight } from '../../kube/weight.ts';

/** Memory for objects of namespaces, in bytes of the heap. */
export interface RoomLimits {
  /** What each namespace has whatever others hold. */
  readonly ownBytes: number;
  /** What all have together besides. */
  readonly sharedBytes: number;
}

/** The part that one namespace gets of what others have left of the room for all, so that the next one gets some, too. */
const part = 3 / 4;

/**
 * The memory for the objects that the operator holds of each namespace, in which tenants may create what they like. Of a namespace without
 * room, objects that are not held yet are left out: nothing of it may be reconciled then, because what is missing here may exist.
 */
export class NamespaceRooms implements ObjectRoom {
  readonly #limits: RoomLimits;
  readonly #onCrowded: (namespace: string) => void;
  /** Holder → namespace → bytes. */
  readonly #held = new Map<object, Map<string, number>>();
  readonly #used = new Map<string, number>();
  /** Of all namespaces, beyond what each has on its own. */
  #sharedBytes = 0;
  /** Namespace → the object that was left out last, and whether that was since everything is listed again. */
  readonly #crowded = new Map<string, { readonly leftOut: string; readonly isAgain: boolean }>();

  /** @param onCrowded called with a namespace that has no room any more */
  constructor(limits: RoomLimits, onCrowded: (namespace: string) => void) {
    this.#limits = limits;
    this.#onCrowded = onCrowded;
  }

  /** Namespaces of which objects are left out. */
  get crowded(): readonly string[] {
    return [...this.#crowded.keys()];
  }

  /** Why nothing of the namespace may be reconciled; undefined while everything of it is held. */
  problemOf(namespace: string): string | undefined {
    const crowded = this.#crowded.get(namespace);
    if (!crowded) return undefined;
    return (
      `objects of control planes in this namespace need more memory of the operator than the ${mebibytes(this.roomOf(namespace))} MiB ` +
      `that it may have: ${crowded.leftOut}, is left out. Delete what no control plane needs`
    );
  }

  /** What the namespace may have now. */
  roomOf(namespace: string): number {
    const { ownBytes, sharedBytes } = this.#limits;
    const others = this.#sharedBytes - this.#shared(this.#used.get(namespace) ?? 0);
    return ownBytes + Math.max(0, sharedBytes - others) * part;
  }

  /** Everything is listed again from now on. */
  begin(): void {
    for (const [namespace, { leftOut }] of this.#crowded) this.#crowded.set(namespace, { leftOut, isAgain: false });
  }

  /** Everything has been listed. Returns the namespaces of which nothing is left out any more. */
  end(): readonly string[] {
    const opened = this.crowded.filter((namespace) => !this.#crowded.get(namespace)?.isAgain);
    for (const namespace of opened) this.#crowded.delete(namespace);
    return opened;
  }

  add(holder: object, object: KubeObject, old?: KubeObject): boolean {
    const { namespace } = object.metadata;
    if (namespace === undefined) return true;
    const more = knownWeight(object) - knownWeight(old);
    if (more > 0 && (this.#used.get(namespace) ?? 0) + more > this.roomOf(namespace)) {
      this.#leaveOut(namespace, object);
      return false;
    }
    this.#change(holder, namespace, more);
    return true;
  }

  addListed(listing: object, object: KubeObject, old?: KubeObject): boolean {
    return this.add(listing, object, old);
  }

  set(holder: object, objects: readonly KubeObject[]): void {
    this.clear(holder);
    for (const object of objects) this.#change(holder, object.metadata.namespace, knownWeight(object));
  }

  remove(holder: object, old: KubeObject | undefined): void {
    this.#change(holder, old?.metadata.namespace, -knownWeight(old));
  }

  clear(holder: object): void {
    for (const [namespace, bytes] of this.#held.get(holder) ?? []) this.#change(holder, namespace, -bytes);
    this.#held.delete(holder);
  }

  #leaveOut(namespace: string, object: KubeObject): void {
    const before = this.#crowded.get(namespace);
    // One name, as long as it may be true, so that a condition does not change with every object.
    if (before?.isAgain) return;
    const leftOut = `${describeObject(object)}, which needs ${mebibytes(knownWeight(object))} MiB`;
    this.#crowded.set(namespace, { leftOut, isAgain: true });
    if (!before) this.#onCrowded(namespace);
  }

  #change(holder: object, namespace: string | undefined, bytes: number): void {
    if (namespace === undefined || bytes === 0) return;
    const held = this.#held.get(holder) ?? new Map<string, number>();
    this.#held.set(holder, held);
    count(held, namespace, bytes);
    const before = this.#used.get(namespace) ?? 0;
    count(this.#used, namespace, bytes);
    this.#sharedBytes += this.#shared(before + bytes) - this.#shared(before);
  }

  /** What of so many bytes is in the room of all. */
  #shared(bytes: number): number {
    return Math.max(0, bytes - this.#limits.ownBytes);
  }
}

function count(counts: Map<string, number>, namespace: string, bytes: number): void {
  const sum = (counts.get(namespace) ?? 0) + bytes;
  if (sum === 0) counts.delete(namespace);
  else counts.set(namespace, sum);
}

function mebibytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1).replace(/\.0$/, '');
}
