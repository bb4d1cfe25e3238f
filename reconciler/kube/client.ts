import { resourceOf, type Resource, ServiceAccount } from '../../constructs/api/resources.ts';
import type {
  PageOptions,
  ApplyOptions,
  CallOptions,
  CreateOptions,
  DeleteOptions,
  KubeClientOptions,
  ListOptions,
  MergePatchOptions,
  ObjectList,
  RawOptions,
  Selection,
  WatchOptions,
} from './client-options.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Connection } from './config.ts';
import { isNotFound } from './errors.ts';
import { ListRequests } from './list-requests.ts';
import type { KubeObject, ObjectName } from './object.ts';
import { metadataOnly, ResourceRequests } from './resource-requests.ts';
import { objectPath, resourcePath, type Query } from './resource.ts';
import { Transport } from './transport.ts';
import { longestSilenceMs, readWatch, type WatchEvent } from './watch.ts';

const strict: Query = { fieldValidation: 'Strict' };
/** Of everything that one answer or one line of a watch may have. A page that has more is asked for in smaller ones. */
const defaultMaxBytes = 32 * 1024 * 1024;
/** 100 MB of heap. An object of an API server has some hundred values. */
const defaultValues = { values: 1_000_000, depth: 200 };

/**
 * A client of one API server that uses plain JSON. It does not use the models of client-node, because they drop fields
 * that they do not know, such as `from` of NetworkPolicies.
 */
export class KubeClient {
  readonly connection: Connection;
  readonly #clock: Clock;
  readonly #transport: Transport;
  readonly #requests: ResourceRequests;
  readonly #lists: ListRequests;

  constructor(connection: Connection, options: KubeClientOptions = {}) {
    const { onRequest = () => {}, onAnswer, onBytes, deadlineMs = 30_000 } = options;
    const { maxBytes = defaultMaxBytes, values = defaultValues, answers, speed, held } = options;
    this.connection = connection;
    this.#clock = options.clock ?? systemClock;
    const observers = { onRequest, onAnswer, onBytes };
    this.#transport = new Transport(connection, observers, { maxBytes, values, answers, speed });
    this.#requests = new ResourceRequests(this.#transport, deadlineMs);
    this.#lists = new ListRequests(this.#requests, held);
  }

  /** The object. Throws KubeError with code 404 when there is none. */
  get<T extends KubeObject = KubeObject>(resource: Resource, name: ObjectName, options?: CallOptions): Promise<T> {
    const path = objectPath(resource, name);
    const request = { verb: 'get', method: 'GET', isIdempotent: true, resource, target: name, path } as const;
    return this.#requests.json<T>(request, options);
  }

  /** The object, or nothing when it does not exist. */
  find<T extends KubeObject = KubeObject>(
    resource: Resource,
    name: ObjectName,
    options?: CallOptions,
  ): Promise<T | undefined> {
    return this.get<T>(resource, name, options).catch(nothingIfNotFound);
  }

  /** All selected objects, fetched in pages. The items have apiVersion and kind, which the server omits. */
  list<T extends KubeObject = KubeObject>(resource: Resource, options: ListOptions<T> = {}): Promise<ObjectList<T>> {
    return this.#lists.all<T>(resource, options);
  }

  /** The newest version of the server, which every write raises. */
  currentVersion(resource: Resource, options: Selection & CallOptions = {}): Promise<string> {
    return this.#lists.currentVersion(resource, options);
  }

  /**
   * All selected objects, page by page, so that only one page at a time is in memory. Throws a KubeError with code 410
   * when the caller reads so slowly that the server has compacted the version of the first page.
   */
  pages(resource: Resource, options: PageOptions = {}): AsyncGenerator<KubeObject[], void> {
    return this.#lists.pages(resource, options);
  }

  /** Server-side apply of the full object; unknown fields are errors. Returns the object as stored. */
  apply<T extends KubeObject>(object: T, options: ApplyOptions): Promise<T & KubeObject> {
    const { fieldManager, force = false, dryRun, subresource, resource = resourceOf(object) } = options;
    return this.#requests.json<T & KubeObject>(
      {
        verb: 'apply',
        method: 'PATCH',
        isIdempotent: true,
        resource,
        target: { ...object.metadata, subresource },
        path: objectPath(resource, object.metadata, subresource),
        query: { ...strict, fieldManager, force, dryRun: dryRun ? 'All' : undefined },
        body: withoutEmptyMaps(object),
        contentType: 'application/apply-patch+yaml',
      },
      options,
    );
  }

  /** Creates the object. Throws KubeError with reason AlreadyExists when an object with that name exists. */
  create<T extends KubeObject>(object: T, options: CreateOptions): Promise<T & KubeObject> {
    const resource = resourceOf(object);
    return this.#requests.json<T & KubeObject>(
      {
        verb: 'create',
        method: 'POST',
        isIdempotent: options.dryRun ?? false,
        resource,
        target: object.metadata,
        path: resourcePath(resource, { namespace: object.metadata.namespace }),
        query: { ...strict, fieldManager: options.fieldManager, dryRun: options.dryRun ? 'All' : undefined },
        body: object,
        contentType: 'application/json',
      },
      options,
    );
  }

  /** A new token of a ServiceAccount with a lifetime of one hour, for the API server's own audiences if none is given. */
  async serviceAccountToken(name: ObjectName, audience?: string, options?: CallOptions): Promise<string> {
    const target = { ...name, subresource: 'token' };
    const spec = audience === undefined ? {} : { audiences: [audience] };
    const { status } = await this.#requests.json<{ readonly status: { readonly token: string } }>(
      {
        verb: 'create',
        method: 'POST',
        // A token that was never received is harmless.
        isIdempotent: true,
        resource: ServiceAccount,
        target,
        path: objectPath(ServiceAccount, name, target.subresource),
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec },
        contentType: 'application/json',
      },
      options,
    );
    return status.token;
  }

  /** Merges the patch into the object (RFC 7386: null removes, lists are replaced). Returns the object as stored. */
  mergePatch<T extends KubeObject = KubeObject>(
    resource: Resource,
    name: ObjectName,
    patch: object,
    options: MergePatchOptions,
  ): Promise<T> {
    const { fieldManager, resourceVersion, subresource, metadataOnly: isMetadataOnly } = options;
    return this.#requests.json<T>(
      {
        verb: 'patch',
        method: 'PATCH',
        // After a lost response, a retry would conflict with the first attempt.
        isIdempotent: resourceVersion === undefined,
        resource,
        target: { ...name, subresource },
        path: objectPath(resource, name, subresource),
        query: { ...strict, fieldManager },
        body: resourceVersion === undefined ? patch : atVersion(patch, resourceVersion),
        contentType: 'application/merge-patch+json',
        accept: isMetadataOnly ? metadataOnly('PartialObjectMetadata') : undefined,
      },
      options,
    );
  }

  /** Requests deletion and does not wait for finalizers. Succeeds for an object that does not exist. */
  async delete(resource: Resource, name: ObjectName, options: DeleteOptions = {}): Promise<void> {
    const { propagationPolicy, gracePeriodSeconds, uid, resourceVersion } = options;
    const preconditions = uid || resourceVersion ? { uid, resourceVersion } : undefined;
    const request = {
      verb: 'delete',
      method: 'DELETE',
      isIdempotent: true,
      resource,
      target: name,
      path: objectPath(resource, name),
      body: { propagationPolicy, gracePeriodSeconds, preconditions },
      contentType: 'application/json',
    } as const;
    await this.#requests.json(request, options).catch(nothingIfNotFound);
  }

  /** Events of one watch request, including bookmarks. Returns when the server ends it, and throws otherwise. */
  watch<T extends KubeObject = KubeObject>(
    resource: Resource,
    options: WatchOptions = {},
  ): AsyncGenerator<WatchEvent<T>, void> {
    const { namespace, labelSelector, fieldSelector, resourceVersion, timeoutSeconds = 120 } = options;
    const selection = { labelSelector, fieldSelector, resourceVersion, timeoutSeconds };
    const query = { watch: true, allowWatchBookmarks: true, ...selection };
    const path = resourcePath(resource, { namespace });
    const accept = options.metadataOnly ? metadataOnly('PartialObjectMetadata') : undefined;
    const get = { verb: 'watch', method: 'GET', isIdempotent: true, accept } as const;
    const call = this.#requests.call({ ...get, resource, target: { namespace }, path, query }, options);
    return readWatch<T>(this.#transport, call, { clock: this.#clock, limitMs: options.silenceMs ?? longestSilenceMs });
  }

  /** The response of any other path: `/readyz`, `/version`, discovery. */
  raw(path: string, options: RawOptions = {}): Promise<string> {
    return this.#requests.text(path, options);
  }

  /** Ends all connections and every request on them. */
  close(): Promise<void> {
    return this.connection.close();
  }
}

/** Every request to one API server. Tests replace the client with an in-memory API server. */
export type KubernetesApi = Omit<KubeClient, 'connection'>;

/** The patch with the required version of the object. */
function atVersion(patch: object, resourceVersion: string): object {
  const metadata = 'metadata' in patch && typeof patch.metadata === 'object' ? patch.metadata : {};
  return { ...patch, metadata: { ...metadata, resourceVersion } };
}

function nothingIfNotFound(error: unknown): undefined {
  if (isNotFound(error)) return undefined;
  throw error;
}

/** Maps of texts, in which every manager owns its own keys. */
const maps = ['data', 'binaryData', 'stringData'] as const;
const metadataMaps = ['labels', 'annotations'] as const;

/**
 * The object to apply. An empty map would be owned as a whole, and every key that another manager adds would be a
 * conflict with it, although it contains nothing.
 */
export function withoutEmptyMaps<T extends KubeObject>(object: T): T {
  return { ...without(object, maps), metadata: without(object.metadata, metadataMaps) };
}

function without<T extends object>(fields: T, names: readonly string[]): T {
  const kept = Object.entries(fields).filter(([name, value]) => !names.includes(name) || !isEmptyMap(value));
  return Object.fromEntries(kept) as T;
}

function isEmptyMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
