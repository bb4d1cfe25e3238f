import { text } from 'node:stream/consumers';
import type { Http2ServerRequest, Http2ServerResponse, IncomingHttpHeaders } from 'node:http2';
import { type Resource, resourceOf } from '../../../constructs/api/resources.ts';
import { kubeErrorOf } from '../../../reconciler/kube/errors.ts';
import type { KubeObject, ObjectName } from '../../../reconciler/kube/object.ts';
import type { MemoryClient } from './client.ts';

/** A path of the API: of a resource, of one of its namespaces, or of one object. */
const pattern =
  /^\/(?:api\/(?<core>v1)|apis\/(?<group>[^/]+\/[^/]+))(?:\/namespaces\/(?<namespace>[^/]+)(?=\/))?\/(?<plural>[^/]+)(?:\/(?<name>[^/]+))?(?:\/(?<subresource>[^/]+))?$/;

export interface ServedApiOptions {
  /** Of the user as whom every request is made. */
  readonly client: MemoryClient;
  readonly resources: readonly Resource[];
  /** Called after each write. */
  readonly onWritten?: () => void;
  /** How often a watch that allows it gets a bookmark. @default never */
  readonly bookmarkMs?: number;
}

/** An API server in memory that answers over HTTP/2, for clients in other processes. */
export class ServedApi {
  readonly #client: MemoryClient;
  readonly #resources: readonly Resource[];
  readonly #onWritten: () => void;
  readonly #bookmarkMs: number | undefined;

  constructor({ client, resources, onWritten = () => {}, bookmarkMs }: ServedApiOptions) {
    this.#client = client;
    this.#resources = resources;
    this.#onWritten = onWritten;
    this.#bookmarkMs = bookmarkMs;
  }

  /** Answers one request. */
  async answer(request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
    const { headers } = request;
    const url = new URL(request.url, 'https://hosted');
    try {
      const body = request.method === 'GET' ? '' : await text(request);
      if (url.searchParams.get('watch')) await this.#watch(response, url, headers);
      else send(response, 200, await this.#handle(headers, url, body));
    } catch (error) {
      // The client has ended.
      if (!response.stream || response.stream.destroyed) return;
      const { code, reason } = kubeErrorOf(error) ?? { code: 500, reason: 'InternalError' };
      const message = error instanceof Error ? error.message : String(error);
      if (!response.headersSent) send(response, code || 500, { kind: 'Status', code, reason, message });
      else response.stream?.close();
    }
  }

  async #handle(headers: IncomingHttpHeaders, url: URL, body: string): Promise<unknown> {
    const method = headers[':method'];
    if (!url.pathname.startsWith('/api')) return this.#client.raw(url.pathname);
    const { resource, target, subresource, selection } = this.#requested(url, headers);
    if (method === 'GET' && target) return this.#client.get(resource, target);
    if (method === 'GET') {
      const { items, resourceVersion } = await this.#client.list(resource, selection);
      return { metadata: { resourceVersion }, items };
    }
    const given = JSON.parse(body || '{}') as KubeObject;
    const result = await this.#write({ method, headers, url, resource, target, subresource, given });
    this.#onWritten();
    return result;
  }

  async #write({ method, headers, url, resource, target, subresource, given }: Write): Promise<unknown> {
    const fieldManager = url.searchParams.get('fieldManager') ?? 'unknown';
    if (method === 'POST') return this.#client.create(given, { fieldManager });
    if (!target) throw new Error(`${method} ${url.pathname} is not simulated`);
    if (method === 'DELETE') return this.#client.delete(resource, target, {});
    if (headers['content-type']?.includes('merge-patch')) {
      return this.#client.mergePatch(resource, target, given, { fieldManager, subresource });
    }
    return this.#client.apply(given, { fieldManager, force: true, subresource, resource: resourceOf(given) });
  }

  async #watch(response: Http2ServerResponse, url: URL, headers: IncomingHttpHeaders): Promise<void> {
    const { resource, selection } = this.#requested(url, headers);
    const ended = new AbortController();
    const end = (): void => ended.abort();
    response.on('close', end);
    const timer = setTimeout(end, Number(url.searchParams.get('timeoutSeconds') ?? 60) * 1_000);
    const resourceVersion = url.searchParams.get('resourceVersion') ?? undefined;
    let seen = resourceVersion;
    const mark = (): void => {
      const { apiVersion, kind } = resource;
      const object = { apiVersion, kind, metadata: { resourceVersion: seen, creationTimestamp: null } };
      if (seen !== undefined) response.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
    };
    const isMarked = this.#bookmarkMs !== undefined && url.searchParams.get('allowWatchBookmarks') === 'true';
    const marks = isMarked ? setInterval(mark, this.#bookmarkMs) : undefined;
    response.writeHead(200, { 'content-type': 'application/json' });
    const events = this.#client.watch(resource, { ...selection, resourceVersion, signal: ended.signal });
    try {
      for await (const event of events) {
        seen = event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion;
        response.write(`${JSON.stringify(event)}\n`);
      }
    } catch (error) {
      if (!ended.signal.aborted) throw error;
    } finally {
      clearTimeout(timer);
      clearInterval(marks);
      response.end();
    }
  }

  #requested({ pathname, searchParams }: URL, { accept }: IncomingHttpHeaders) {
    const parts = pattern.exec(decodeURIComponent(pathname))?.groups ?? {};
    const { core, group, namespace, plural, name, subresource } = parts;
    const apiVersion = core ?? group;
    const resource = this.#resources.find((one) => one.apiVersion === apiVersion && one.plural === plural);
    if (!resource) throw new Error(`${pathname} is not simulated`);
    const selection = {
      namespace,
      labelSelector: searchParams.get('labelSelector') ?? undefined,
      fieldSelector: searchParams.get('fieldSelector') ?? undefined,
      metadataOnly: accept?.includes('PartialObjectMetadata') ?? false,
    };
    return { resource, target: name === undefined ? undefined : { name, namespace }, subresource, selection };
  }
}

interface Write {
  readonly method: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly url: URL;
  readonly resource: Resource;
  readonly target: ObjectName | undefined;
  readonly subresource: string | undefined;
  readonly given: KubeObject;
}

function send(response: Http2ServerResponse, code: number, value: unknown): void {
  const isText = typeof value === 'string';
  response.writeHead(code, { 'content-type': isText ? 'text/plain' : 'application/json' });
  response.end(isText ? value : JSON.stringify(value ?? { kind: 'Status', status: 'Success' }));
}
