import { resourceOf, type Resource } from '../../constructs/api/resources.ts';
import type {
  ApplyOptions,
  CallOptions,
  CreateOptions,
  DeleteOptions,
  KubeClientOptions,
  MergePatchOptions,
  ObjectList,
  Selection,
  WatchOptions,
} from './client-options.ts';
import type { Connection } from './config.ts';
import { isGone, isNotFound } from './errors.ts';
import type { KubeObject, ObjectName } from './object.ts';
import { describeTarget, objectPath, resourcePath, withQuery, type PathTarget, type Query } from './resource.ts';
import type { KubeRequest } from './request.ts';
import { Transport } from './transport.ts';
import { readWatch, type WatchEvent } from './watch.ts';

interface ListPage<T> {
  items?: T[];
  metadata: { resourceVersion: string; continue?: string };
}

type Send = Pick<KubeRequest, 'verb' | 'method' | 'isIdempotent'> & {
  readonly query?: Query;
  readonly body?: unknown;
  readonly contentType?: string;
};

const pageSize = 500;
const watchInactivityMs = 150_000;
const strict: Query = { fieldValidation: 'Strict' };

/**
 * Talks plain JSON to one API server. The models of client-node stay out of it on purpose: they drop fields they do not
 * know, `from` of NetworkPolicies among them.
 */
export class KubeClient {
  readonly connection: Connection;
  readonly #transport: Transport;
  readonly #deadlineMs: number;

  constructor(connection: Connection, options: KubeClientOptions = {}) {
    this.connection = connection;
    this.#transport = new Transport(connection, options.onRequest ?? (() => {}));
    this.#deadlineMs = options.deadlineMs ?? 30_000;
  }

  /** The object. Throws KubeError with code 404 when there is none. */
  get<T extends KubeObject = KubeObject>(resource: Resource, name: ObjectName, options?: CallOptions): Promise<T> {
    const send: Send = { verb: 'get', method: 'GET', isIdempotent: true };
    return this.#json<T>(resource, objectPath(resource, name), name, send, options);
  }

  /** The object, or nothing when it does not exist. */
  find<T extends KubeObject = KubeObject>(
    resource: Resource,
    name: ObjectName,
    options?: CallOptions,
  ): Promise<T | undefined> {
    return this.get<T>(resource, name, options).catch(nothingIfNotFound);
  }

  /** All selected objects, fetched in pages. The items carry apiVersion and kind, which the server leaves out. */
  async list<T extends KubeObject = KubeObject>(
    resource: Resource,
    options: Selection & CallOptions = {},
  ): Promise<ObjectList<T>> {
    try {
      return await this.#listPaged<T>(resource, options, pageSize);
    } catch (error) {
      // The version of the first page was compacted before the last page came: take everything in one answer.
      if (isGone(error)) return this.#listPaged<T>(resource, options, undefined);
      throw error;
    }
  }

  /** Server-side apply of the full object; unknown fields are errors. Returns the object as stored. */
  apply<T extends KubeObject>(object: T, options: ApplyOptions): Promise<T & KubeObject> {
    const { fieldManager, force, dryRun, subresource, resource = resourceOf(object) } = options;
    const query = { ...strict, fieldManager, force: force ?? false, dryRun: dryRun ? 'All' : undefined };
    const contentType = 'application/apply-patch+yaml';
    const send: Send = { verb: 'apply', method: 'PATCH', isIdempotent: true, query, body: object, contentType };
    const target = { ...object.metadata, subresource };
    return this.#json<T & KubeObject>(resource, objectPath(resource, target, subresource), target, send, options);
  }

  /** Creates the object. Throws KubeError with reason AlreadyExists when there is one of that name. */
  create<T extends KubeObject>(object: T, options: CreateOptions): Promise<T & KubeObject> {
    const resource = resourceOf(object);
    const query = { ...strict, fieldManager: options.fieldManager };
    const contentType = 'application/json';
    const send: Send = { verb: 'create', method: 'POST', isIdempotent: false, query, body: object, contentType };
    const path = resourcePath(resource, { namespace: object.metadata.namespace });
    return this.#json<T & KubeObject>(resource, path, object.metadata, send, options);
  }

  /** Merges the patch into the object (RFC 7386: null removes, lists are replaced). Returns the object as stored. */
  mergePatch<T extends KubeObject = KubeObject>(
    resource: Resource,
    name: ObjectName,
    patch: object,
    options: MergePatchOptions,
  ): Promise<T> {
    const { fieldManager, resourceVersion, subresource } = options;
    const send: Send = {
      verb: 'patch',
      method: 'PATCH',
      // After a lost answer a second try would meet its own first one as a conflict.
      isIdempotent: resourceVersion === undefined,
      query: { ...strict, fieldManager },
      body: resourceVersion === undefined ? patch : atVersion(patch, resourceVersion),
      contentType: 'application/merge-patch+json',
    };
    const path = objectPath(resource, name, subresource);
    return this.#json<T>(resource, path, { ...name, subresource }, send, options);
  }

  /** Asks for deletion and does not wait for finalizers. An object that is not there is a success. */
  async delete(resource: Resource, name: ObjectName, options: DeleteOptions = {}): Promise<void> {
    const { propagationPolicy, gracePeriodSeconds, uid, resourceVersion } = options;
    const preconditions = uid || resourceVersion ? { uid, resourceVersion } : undefined;
    const body = { propagationPolicy, gracePeriodSeconds, preconditions };
    const send: Send = { verb: 'delete', method: 'DELETE', isIdempotent: true, body, contentType: 'application/json' };
    await this.#json(resource, objectPath(resource, name), name, send, options).catch(nothingIfNotFound);
  }

  /** Events of one watch request, bookmarks included. Returns when the server ends it and throws on everything else. */
  watch<T extends KubeObject = KubeObject>(
    resource: Resource,
    options: WatchOptions = {},
  ): AsyncGenerator<WatchEvent<T>, void> {
    const { namespace, labelSelector, fieldSelector, resourceVersion, timeoutSeconds } = options;
    const selection = { labelSelector, fieldSelector, resourceVersion, timeoutSeconds };
    const query = { watch: true, allowWatchBookmarks: true, ...selection };
    const send: Send = { verb: 'watch', method: 'GET', isIdempotent: true, query };
    const call = this.#call(resource, resourcePath(resource, { namespace }), { namespace }, send, options);
    return readWatch<T>(this.#transport, { ...call, inactivityMs: options.inactivityMs ?? watchInactivityMs });
  }

  /** The text behind any other path: `/readyz`, `/version`, discovery. */
  raw(path: string, options: CallOptions = {}): Promise<string> {
    const { signal, deadlineMs = this.#deadlineMs } = options;
    const call = { verb: 'get', resource: '', target: path, method: 'GET', path, isIdempotent: true } as const;
    return this.#transport.send({ ...call, deadlineMs, signal });
  }

  async #listPaged<T extends KubeObject>(
    resource: Resource,
    options: Selection & CallOptions,
    limit: number | undefined,
  ): Promise<ObjectList<T>> {
    const { namespace, labelSelector, fieldSelector } = options;
    const items: T[] = [];
    for (let next: string | undefined; ;) {
      const query = { labelSelector, fieldSelector, limit, continue: next };
      const send: Send = { verb: 'list', method: 'GET', isIdempotent: true, query };
      const path = resourcePath(resource, { namespace });
      const page = await this.#json<ListPage<T>>(resource, path, { namespace }, send, options);
      const { apiVersion, kind } = resource;
      for (const item of page.items ?? []) items.push(Object.assign(item, { apiVersion, kind }));
      next = page.metadata.continue;
      if (!next) return { items, resourceVersion: page.metadata.resourceVersion };
    }
  }

  async #json<T>(
    resource: Resource,
    path: string,
    target: PathTarget,
    send: Send,
    options: CallOptions = {},
  ): Promise<T> {
    const answer: T = JSON.parse(await this.#transport.send(this.#call(resource, path, target, send, options)));
    return answer;
  }

  #call(resource: Resource, path: string, target: PathTarget, send: Send, options: CallOptions): KubeRequest {
    const { query, body, ...rest } = send;
    return {
      ...rest,
      resource: resource.plural,
      target: describeTarget(resource, target),
      path: withQuery(path, query ?? {}),
      body: body === undefined ? undefined : JSON.stringify(body),
      deadlineMs: options.deadlineMs ?? this.#deadlineMs,
      signal: options.signal,
    };
  }
}

/** The patch with the version the object must be at. */
function atVersion(patch: object, resourceVersion: string): object {
  const metadata = 'metadata' in patch && typeof patch.metadata === 'object' ? patch.metadata : {};
  return { ...patch, metadata: { ...metadata, resourceVersion } };
}

function nothingIfNotFound(error: unknown): undefined {
  if (isNotFound(error)) return undefined;
  throw error;
}
