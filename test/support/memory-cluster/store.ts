import { groupOf } from '../../../constructs/api/resources.ts';
import { identityOf, type KubeObject, type ObjectName } from '../../../reconciler/kube/object.ts';

interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** One change of one object, with the version of the whole store. */
export interface StoredChange {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** The state after the change; for a deletion the last state, with the version of the deletion. */
  readonly object: KubeObject;
  /** The state before the change. */
  readonly previous: KubeObject | undefined;
}

/** Objects that are never changed in place, their versions, and the history of changes. */
export class Store {
  readonly #objects = new Map<string, KubeObject>();
  readonly #history: StoredChange[] = [];
  readonly #waiting = new Set<() => void>();
  /** By kind: how often any of its objects has changed. */
  readonly #changes = new Map<string, number>();
  #version = 1;
  #uids = 0;
  #restores = 0;

  /** A copy with the same objects and versions, which then changes independently. */
  copy(): Store {
    const copy = new Store();
    copy.#version = this.#version;
    copy.#uids = this.#uids;
    for (const [identity, object] of this.#objects) copy.#objects.set(identity, object);
    return copy;
  }

  /** Goes back to the objects and versions of a copy, as etcd does that is restored from a backup. Ends all watches. */
  restore(copy: Store): void {
    this.#version = copy.#version;
    this.#uids = copy.#uids;
    this.#restores += 1;
    this.#objects.clear();
    for (const [identity, object] of copy.#objects) this.#objects.set(identity, object);
    this.#history.length = 0;
    for (const wake of this.#waiting) wake();
  }

  /** How often it was restored. */
  get restores(): number {
    return this.#restores;
  }

  get version(): number {
    return this.#version;
  }

  get objects(): KubeObject[] {
    return [...this.#objects.values()];
  }

  nextUid(): string {
    return `00000000-0000-4000-8000-${String(++this.#uids).padStart(12, '0')}`;
  }

  find({ apiVersion, kind }: Kind, { name, namespace }: ObjectName): KubeObject | undefined {
    return this.#objects.get(identityOf({ apiVersion, kind, metadata: { name, namespace } }));
  }

  /** Objects of a kind in all its versions, by name as etcd returns them. */
  list(kind: Kind): KubeObject[] {
    return this.objects
      .filter((object) => isOf(kind, object))
      .sort((one, other) => (identityOf(one) < identityOf(other) ? -1 : 1));
  }

  /** Stores the object with a new version and returns it. */
  put(object: KubeObject): KubeObject {
    const identity = identityOf(object);
    const previous = this.#objects.get(identity);
    const stored = frozen(atVersion(object, ++this.#version));
    this.#objects.set(identity, stored);
    this.#record({ version: this.#version, type: previous ? 'MODIFIED' : 'ADDED', object: stored, previous });
    return stored;
  }

  remove(object: KubeObject): void {
    const previous = this.#objects.get(identityOf(object));
    if (!previous) return;
    this.#objects.delete(identityOf(object));
    const last = frozen(atVersion(previous, ++this.#version));
    this.#record({ version: this.#version, type: 'DELETED', object: last, previous });
  }

  /** How often objects of these kinds have changed; grows with a restore, too. */
  changesOf(kinds: readonly Kind[]): number {
    return kinds.reduce((sum, { kind }) => sum + (this.#changes.get(kind) ?? 0), this.#restores);
  }

  /** The changes of objects of a kind after a version. */
  changesSince(kind: Kind, version: number): StoredChange[] {
    return this.#history.filter((change) => change.version > version && isOf(kind, change.object));
  }

  /** Resolves at the next change, or at once when the signal aborts. */
  changed(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#waiting.delete(done);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      if (signal?.aborted) return resolve();
      this.#waiting.add(done);
      signal?.addEventListener('abort', done);
    });
  }

  #record(change: StoredChange): void {
    const { kind } = change.object;
    this.#changes.set(kind, (this.#changes.get(kind) ?? 0) + 1);
    this.#history.push(change);
    for (const wake of this.#waiting) wake();
  }
}

function isOf(kind: Kind, object: KubeObject): boolean {
  return object.kind === kind.kind && groupOf(object) === groupOf(kind);
}

function atVersion(object: KubeObject, version: number): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
}

/** Stored objects are frozen: a caller that changed an answer in place would change the store. */
function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) frozen(part);
  }
  return value;
}
