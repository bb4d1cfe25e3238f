import { type Resource, resourceOf, ServiceAccount } from '../../../constructs/api/resources.ts';
import type { KubernetesApi } from '../../../reconciler/kube/client.ts';
import type {
  ApplyOptions,
  CreateOptions,
  DeleteOptions,
  MergePatchOptions,
  ListOptions,
  ObjectList,
  Selection,
  WatchOptions,
} from '../../../reconciler/kube/client-options.ts';
import { withoutEmptyMaps } from '../../../reconciler/kube/applied-fields.ts';
import { isNotFound } from '../../../reconciler/kube/errors.ts';
import type { KubeObject, ObjectName } from '../../../reconciler/kube/object.ts';
import { objectPath } from '../../../reconciler/kube/resource.ts';
import type { WatchEvent } from '../../../reconciler/kube/watch.ts';
import type { MemoryApiServer } from './api-server.ts';
import { actionOf, notServed } from './failures.ts';
import { isSelected } from './selectors.ts';
import { watchStore } from './watch.ts';

export interface MemoryClientOptions {
  /** Called before every request; an error it throws is the answer. By default nothing is called. */
  readonly before?: (action: string) => Promise<void> | void;
  /**
   * Called when the server has handled the request, before the caller or a watch gets the result. By default nothing is called.
   */
  readonly after?: (action: string) => void;
  /** What other paths answer. By default only `/readyz` and empty `/metrics` exist. */
  readonly paths?: Readonly<Record<string, () => string>>;
}

/** An implementation of KubeClient's API for an in-memory API server. */
export class MemoryClient implements KubernetesApi {
  readonly #server: MemoryApiServer;
  readonly #before: (action: string) => Promise<void> | void;
  readonly #after: (action: string) => void;
  readonly #paths: Readonly<Record<string, () => string>>;

  constructor(server: MemoryApiServer, { before = () => {}, after = () => {}, paths = {} }: MemoryClientOptions = {}) {
    this.#server = server;
    this.#before = before;
    this.#after = after;
    this.#paths = { '/readyz': () => 'ok', '/metrics': () => '', ...paths };
  }

  async get<T extends KubeObject = KubeObject>(resource: Resource, name: ObjectName): Promise<T> {
    objectPath(resource, name);
    const action = actionOf('get', resource, name);
    await this.#before(action);
    return this.#server.read(resource, name, action) as KubeObject as T;
  }

  find<T extends KubeObject = KubeObject>(resource: Resource, name: ObjectName): Promise<T | undefined> {
    return this.get<T>(resource, name).catch(nothingIfNotFound);
  }

  async list<T extends KubeObject = KubeObject>(
    resource: Resource,
    options: ListOptions<T> = {},
  ): Promise<ObjectList<T>> {
    const { namespace } = options;
    const action = actionOf('list', resource, namespace === undefined ? {} : { namespace });
    await this.#before(action);
    this.#server.requireServed(resource, action);
    const { apiVersion, kind } = resource;
    const selected = this.#server.store.list(resource).filter((object) => isSelected(object, options));
    const items = selected.map(
      (object) => ({ ...seen(object, resource, options), apiVersion, kind }) as KubeObject as T,
    );
    const keep = options.keeper?.() ?? ((object: T) => object);
    return { items: items.map(keep), resourceVersion: String(this.#server.store.version) };
  }

  async currentVersion(resource: Resource, { namespace }: Selection = {}): Promise<string> {
    await this.#before(actionOf('check', resource, namespace === undefined ? {} : { namespace }));
    return String(this.#server.store.version);
  }

  async *pages(resource: Resource, options: Selection = {}): AsyncGenerator<KubeObject[], void> {
    yield (await this.list(resource, options)).items;
  }

  async apply<T extends KubeObject>(object: T, options: ApplyOptions): Promise<T & KubeObject> {
    const { resource = resourceOf(object) } = options;
    objectPath(resource, object.metadata);
    const action = actionOf('apply', resource, object.metadata);
    return this.#write(action, () => this.#server.apply(resource, withoutEmptyMaps(object), options) as T & KubeObject);
  }

  async create<T extends KubeObject>(object: T, { fieldManager }: CreateOptions): Promise<T & KubeObject> {
    const resource = resourceOf(object);
    objectPath(resource, object.metadata);
    const action = actionOf('create', resource, object.metadata);
    return this.#write(action, () => this.#server.create(resource, object, fieldManager) as T & KubeObject);
  }

  async serviceAccountToken(
    name: ObjectName,
    audience = 'https://kubernetes.default.svc.cluster.local',
  ): Promise<string> {
    const action = actionOf('create', ServiceAccount, { ...name, subresource: 'token' });
    await this.#before(action);
    this.#server.read(ServiceAccount, name, action);
    const claims = { aud: [audience], sub: `system:serviceaccount:${name.namespace}:${name.name}` };
    return ['{}', JSON.stringify(claims), ''].map((part) => Buffer.from(part).toString('base64url')).join('.');
  }

  async mergePatch<T extends KubeObject = KubeObject>(
    resource: Resource,
    name: ObjectName,
    patch: object,
    options: MergePatchOptions,
  ): Promise<T> {
    objectPath(resource, name);
    const patched = await this.#write(actionOf('patch', resource, name), () =>
      this.#server.mergePatch(resource, name, patch, options),
    );
    return seen(patched, resource, options) as T;
  }

  async delete(resource: Resource, name: ObjectName, options: DeleteOptions = {}): Promise<void> {
    objectPath(resource, name);
    const action = actionOf('delete', resource, name);
    await this.#write(action, () => this.#server.delete(resource, name, options)).catch(nothingIfNotFound);
  }

  async *watch<T extends KubeObject = KubeObject>(
    resource: Resource,
    options: WatchOptions = {},
  ): AsyncGenerator<WatchEvent<T>, void> {
    const { namespace } = options;
    const action = actionOf('watch', resource, namespace === undefined ? {} : { namespace });
    await this.#before(action);
    this.#server.requireServed(resource, action);
    for await (const event of watchStore(this.#server.store, resource, options)) {
      if (event.type === 'BOOKMARK') yield event;
      else yield { type: event.type, object: seen(event.object, resource, options) as T };
    }
  }

  async raw(path: string): Promise<string> {
    await this.#before(`get ${path}`);
    const answer = this.#paths[path];
    if (!answer) throw notServed(`get ${path}`);
    return answer();
  }

  async close(): Promise<void> {}

  async #write<T>(action: string, write: () => T): Promise<T> {
    await this.#before(action);
    const answer = write();
    this.#after(action);
    return answer;
  }
}

/** The object in the requested version, reduced to its metadata if only that was requested. */
function seen(
  object: KubeObject,
  { apiVersion }: Resource,
  { metadataOnly }: Pick<Selection, 'metadataOnly'>,
): KubeObject {
  if (!metadataOnly) return { ...object, apiVersion };
  return { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: object.metadata };
}

function nothingIfNotFound(error: unknown): undefined {
  if (isNotFound(error)) return undefined;
  throw error;
}
