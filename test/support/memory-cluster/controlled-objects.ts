import { isDeepStrictEqual } from 'node:util';
import { type Resource, resourceOf } from '../../../constructs/api/resources.ts';
import { KubeError } from '../../../reconciler/kube/errors.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import type { ControlledObjects } from '../management-controllers.ts';
import type { StoredObject } from '../memory-objects.ts';
import { protection } from './admission/storage-protection.ts';
import type { MemoryApiServer } from './api-server.ts';

/** One namespace of an in-memory API server as Kubernetes' own controllers see it: they may write any field. */
export class NamespaceObjects implements ControlledObjects {
  readonly #server: MemoryApiServer;
  readonly #namespace: string;

  constructor(server: MemoryApiServer, namespace: string) {
    this.#server = server;
    this.#namespace = namespace;
  }

  get objects(): StoredObject[] {
    return this.#server.store.objects.filter(
      ({ metadata }) => metadata.namespace === this.#namespace,
    ) as StoredObject[];
  }

  get<T extends KubeObject>(resource: Resource, name: string): T | undefined {
    return this.#server.store.find(resource, { namespace: this.#namespace, name }) as T | undefined;
  }

  list<T extends KubeObject>({ kind }: Resource, labels: Readonly<Record<string, string>>): T[] {
    const carries = ({ metadata }: KubeObject) =>
      Object.entries(labels).every(([label, value]) => metadata.labels?.[label] === value);
    return this.objects.filter((object) => object.kind === kind && carries(object)) as KubeObject[] as T[];
  }

  put(object: StoredObject): void {
    const placed = this.#placed(object);
    const present = this.#server.store.find(placed, placed.metadata);
    const next = present
      ? { ...placed, metadata: { ...present.metadata, ...placed.metadata } }
      : this.#admitted(placed);
    if (!isDeepStrictEqual(next, present)) this.#server.store.put(next);
  }

  refusal(object: StoredObject): string | undefined {
    try {
      this.#admitted(this.#placed(object));
      return undefined;
    } catch (error) {
      // Without the action: controllers quote what the API server has answered.
      return error instanceof KubeError ? error.message.slice(error.message.indexOf(': ') + 2) : String(error);
    }
  }

  #placed(object: StoredObject): StoredObject {
    return JSON.parse(JSON.stringify({ ...object, metadata: { ...object.metadata, namespace: this.#namespace } }));
  }

  #admitted(object: StoredObject): KubeObject {
    const { status, ...wanted } = object;
    const born = this.#server.admitted(resourceOf(object), wanted);
    const { generation: _, ...metadata } = born.metadata;
    return { ...born, metadata: { ...metadata, ...object.metadata }, ...(status === undefined ? {} : { status }) };
  }

  /** An object that still has a finalizer of another controller stays. */
  remove(object: KubeObject): void {
    const others = (object.metadata.finalizers ?? []).filter((finalizer) => finalizer !== protection);
    if (others.length === 0) this.#server.store.remove(object);
  }
}
