import { objectKey, type KubeObject, type ObjectName } from './object.ts';

/** A change of an object. A deletion contains its last known state. */
export type ObjectChange<T extends KubeObject> =
  | { readonly type: 'added'; readonly object: T; readonly old?: undefined }
  | { readonly type: 'updated'; readonly object: T; readonly old: T }
  | { readonly type: 'deleted'; readonly object: T; readonly old?: undefined };

/** Objects of one resource in memory, by name or by the value of an indexed label. */
export class ObjectCache<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  /** Label → namespace and value → keys. */
  readonly #indexes: ReadonlyMap<string, Map<string, Set<string>>>;

  /** @param indexedLabels labels that `byLabel` supports */
  constructor(indexedLabels: readonly string[]) {
    this.#indexes = new Map(indexedLabels.map((label) => [label, new Map()]));
  }

  get size(): number {
    return this.#objects.size;
  }

  get(name: ObjectName): T | undefined {
    return this.#objects.get(objectKey(name));
  }

  list(): T[] {
    return [...this.#objects.values()];
  }

  /** The objects of a namespace whose label has this value. Throws when the label is not indexed. */
  byLabel(label: string, value: string, namespace: string | undefined): T[] {
    const index = this.#indexes.get(label);
    if (!index) throw new Error(`label ${label} is not indexed: give it to the informer as an indexed label`);
    const keys = index.get(indexKey(value, namespace)) ?? [];
    return [...keys].flatMap((key) => this.#objects.get(key) ?? []);
  }

  /** Stores the object. Returns undefined when this version is already stored. */
  put(object: T): ObjectChange<T> | undefined {
    const old = this.get(object.metadata);
    return old && isSameVersion(old, object) ? undefined : this.#set(object);
  }

  #set(object: T): ObjectChange<T> {
    const key = objectKey(object.metadata);
    const old = this.#objects.get(key);
    if (old) this.#unindex(key, old);
    this.#objects.set(key, object);
    this.#index(key, object);
    return old ? { type: 'updated', object, old } : { type: 'added', object };
  }

  /** Removes the object. @param last its state in the deletion event, which is newer than the stored one */
  remove(name: ObjectName, last?: T): ObjectChange<T> | undefined {
    const key = objectKey(name);
    const old = this.#objects.get(key);
    if (!old) return undefined;
    this.#unindex(key, old);
    this.#objects.delete(key);
    return { type: 'deleted', object: last ?? old };
  }

  /**
   * Replaces all objects with this list, and returns the changes, including those that were missed before.
   * @param isRestored the server's versions have gone back: a known version proves nothing
   */
  replace(objects: readonly T[], isRestored = false): ObjectChange<T>[] {
    const listed = new Set(objects.map(({ metadata }) => objectKey(metadata)));
    const gone = this.list().filter(({ metadata }) => !listed.has(objectKey(metadata)));
    return [
      ...gone.flatMap(({ metadata }) => this.remove(metadata) ?? []),
      ...objects.flatMap((object) => (isRestored ? this.#set(object) : (this.put(object) ?? []))),
    ];
  }

  #index(key: string, object: T): void {
    for (const [label, index] of this.#indexes) {
      const value = object.metadata.labels?.[label];
      if (value === undefined) continue;
      const place = indexKey(value, object.metadata.namespace);
      const keys = index.get(place) ?? new Set();
      keys.add(key);
      index.set(place, keys);
    }
  }

  #unindex(key: string, object: T): void {
    for (const [label, index] of this.#indexes) {
      const value = object.metadata.labels?.[label];
      if (value === undefined) continue;
      const place = indexKey(value, object.metadata.namespace);
      const keys = index.get(place);
      keys?.delete(key);
      if (keys?.size === 0) index.delete(place);
    }
  }
}

/** The same name is a label value in many namespaces: an index by the label alone would find the objects of all of them. */
function indexKey(value: string, namespace: string | undefined): string {
  return objectKey({ name: value, namespace });
}

/** An object that was deleted and created again between two lists has another UID. Otherwise the version decides. */
function isSameVersion(a: KubeObject, b: KubeObject): boolean {
  return a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion;
}
