import { isDeepStrictEqual } from 'node:util';
import type { Resource } from '../../../constructs/api/resources.ts';
import { identityOf, type KubeObject } from '../../../reconciler/kube/object.ts';
import type { ControlledObjects } from '../management-controllers.ts';
import type { StoredObject } from '../memory-objects.ts';
import { type MemoryApiServer, protection } from './api-server.ts';

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
    const placed = { ...object, metadata: { ...object.metadata, namespace: this.#namespace } };
    const present = this.#server.store.objects.find((one) => identityOf(one) === identityOf(placed));
    const metadata = present
      ? { ...present.metadata, ...placed.metadata }
      : { uid: this.#server.store.nextUid(), creationTimestamp: this.#server.time, ...placed.metadata };
    const next: StoredObject = JSON.parse(JSON.stringify({ ...placed, metadata }));
    if (!isDeepStrictEqual(next, present)) this.#server.store.put(next);
  }

  /** An object that still has a finalizer of another controller stays. */
  remove(object: KubeObject): void {
    const others = (object.metadata.finalizers ?? []).filter((finalizer) => finalizer !== protection);
    if (others.length === 0) this.#server.store.remove(object);
  }
}
