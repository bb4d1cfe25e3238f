import type { Resource } from '../../constructs/api/resources.ts';
import type { CallOptions, RawOptions } from './client-options.ts';
import { withoutNulls } from './missing-values.ts';
import type { KubeRequest } from './request.ts';
import { describeTarget, withQuery, type PathTarget, type Query } from './resource.ts';
import type { Transport } from './transport.ts';

/** Asks for metadata alone, of any resource. Objects have the kind PartialObjectMetadata. */
export const metadataOnly = (kind: string) => `application/json;as=${kind};g=meta.k8s.io;v=v1`;

/** A request for a resource. */
export interface ResourceRequest extends Pick<KubeRequest, 'verb' | 'method' | 'isIdempotent'> {
  readonly resource: Resource;
  readonly target: PathTarget;
  readonly path: string;
  readonly query?: Query;
  readonly body?: object;
  readonly contentType?: string;
  readonly accept?: string | undefined;
}

/** Sends requests for resources and reads JSON responses. */
export class ResourceRequests {
  readonly #transport: Transport;
  readonly #deadlineMs: number;

  /** @param deadlineMs time limit of calls without their own */
  constructor(transport: Transport, deadlineMs: number) {
    this.#transport = transport;
    this.#deadlineMs = deadlineMs;
  }

  /** The response. The caller asserts its type, because the API server conforms to its schema. */
  async json<T>(request: ResourceRequest, options: CallOptions = {}): Promise<T> {
    const call = { ...this.call(request, options), isJson: true };
    return this.#transport.send<T>(call, (text) => withoutNulls(JSON.parse(text) as T, text));
  }

  /** The response of a non-resource path. */
  text(path: string, { signal, deadlineMs = this.#deadlineMs, longestBytes }: RawOptions): Promise<string> {
    // Some paths have their own content type, and answer 406 to a request for JSON only.
    const accept = 'application/json, */*';
    const call = { verb: 'get', resource: '', target: path, method: 'GET', path, isIdempotent: true, accept } as const;
    return this.#transport.send({ ...call, deadlineMs, signal, longestBytes }, (answer) => answer);
  }

  /** The request to send. */
  call(request: ResourceRequest, options: CallOptions): KubeRequest {
    const { resource, target, path, query = {}, body, ...rest } = request;
    return {
      ...rest,
      resource: resource.plural,
      target: describeTarget(resource, target),
      path: withQuery(path, query),
      body: body === undefined ? undefined : JSON.stringify(body),
      deadlineMs: options.deadlineMs ?? this.#deadlineMs,
      signal: options.signal,
    };
  }
}
