import type { CacheBudget } from './cache-budget.ts';
import type { Resource } from '../../constructs/api/resources.ts';
import type { CallOptions, ListOptions, ObjectList, PageOptions, Selection } from './client-options.ts';
import { isGone, isTooLarge, tooLarge } from './errors.ts';
import type { KubeObject } from './object.ts';
import { metadataOnly, type ResourceRequests } from './resource-requests.ts';
import { describeTarget, resourcePath, type Query } from './resource.ts';

interface ListPage<T> {
  items?: T[];
  metadata: { resourceVersion: string; continue?: string };
}

const pageSize = 500;
/** A server can send pages without end, even empty ones. */
const mostPages = 1_000;
/** How many times smaller the next page is after one that is too large. */
const shrinking = 8;

/** Lists the objects of a resource. */
export class ListRequests {
  readonly #requests: ResourceRequests;
  readonly #held: CacheBudget | undefined;

  /** @param held the room for the objects of a list until it is complete */
  constructor(requests: ResourceRequests, held?: CacheBudget) {
    this.#requests = requests;
    this.#held = held;
  }

  /** All selected objects with apiVersion and kind. */
  async all<T extends KubeObject>(resource: Resource, options: ListOptions<T>): Promise<ObjectList<T>> {
    try {
      return await this.#collect<T>(resource, options, pageSize);
    } catch (error) {
      // The version of the first page was compacted before the last page was read: list without pages.
      if (isGone(error)) return this.#collect<T>(resource, options, undefined);
      throw error;
    }
  }

  /** All selected objects as the server sends them, page by page. */
  async *pages(resource: Resource, { limit = pageSize, ...options }: PageOptions): AsyncGenerator<KubeObject[], void> {
    // null in an empty list of metadata.
    for await (const { items } of this.#pages<KubeObject>(resource, options, limit)) yield items ?? [];
  }

  /** The version of a list that is not read to its end. */
  async currentVersion(resource: Resource, options: Selection & CallOptions): Promise<string> {
    return (await this.#page(resource, options, 'check', { limit: 1 })).metadata.resourceVersion;
  }

  async #collect<T extends KubeObject>(
    resource: Resource,
    options: ListOptions<T>,
    limit: number | undefined,
  ): Promise<ObjectList<T>> {
    const items: T[] = [];
    const keep = options.keeper?.() ?? this.#counting(items);
    const { apiVersion, kind } = resource;
    let resourceVersion = '';
    try {
      for await (const page of this.#pages<T>(resource, options, limit)) {
        for (const item of page.items ?? []) items.push(keep(Object.assign(item, { apiVersion, kind })));
        ({ resourceVersion } = page.metadata);
      }
    } finally {
      this.#held?.clear(items);
    }
    return { items, resourceVersion };
  }

  /** Everything is kept, as much as there is room for. A keeper counts itself. */
  #counting<T extends KubeObject>(holder: readonly T[]): (object: T) => T {
    return (object) => {
      this.#held?.add(holder, object);
      return object;
    };
  }

  async *#pages<T extends KubeObject>(
    resource: Resource,
    options: Selection & CallOptions,
    first: number | undefined,
  ): AsyncGenerator<ListPage<T>, void> {
    let limit = first;
    let next: string | undefined;
    for (let pages = 0; pages < mostPages; pages++) {
      const page = await this.#fitting<T>(resource, options, { limit, continue: next });
      if (page) {
        yield page;
        next = page.metadata.continue;
        if (!next) return;
      } else {
        limit = Math.floor((limit ?? pageSize) / shrinking) || 1;
      }
    }
    throw tooLarge(`list ${describeTarget(resource, options)}: the list has more than ${mostPages} pages`);
  }

  /** The page; undefined if it is too large and a smaller one can be requested. */
  async #fitting<T>(
    resource: Resource,
    options: Selection & CallOptions,
    query: Query,
  ): Promise<ListPage<T> | undefined> {
    try {
      return await this.#page<T>(resource, options, 'list', query);
    } catch (error) {
      if (!isTooLarge(error) || query['limit'] === 1) throw error;
      return undefined;
    }
  }

  #page<T>(resource: Resource, options: Selection & CallOptions, verb: string, query: Query): Promise<ListPage<T>> {
    const { namespace, labelSelector, fieldSelector } = options;
    const path = resourcePath(resource, { namespace });
    const accept = options.metadataOnly ? metadataOnly('PartialObjectMetadataList') : undefined;
    const request = { verb, method: 'GET', isIdempotent: true, accept, resource, target: { namespace }, path } as const;
    return this.#requests.json({ ...request, query: { labelSelector, fieldSelector, ...query } }, options);
  }
}
