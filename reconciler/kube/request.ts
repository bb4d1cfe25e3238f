/** One request as metrics and tests see it. */
export interface RequestRecord {
  readonly verb: string;
  /** Plural of the resource, or empty for paths that are none. */
  readonly resource: string;
  /** HTTP status; 0 when no answer came. */
  readonly code: number;
  readonly ms: number;
}

/** One request to send. */
export interface KubeRequest {
  readonly verb: string;
  readonly resource: string;
  /** What it is about, for error messages: `Secret a/b`. */
  readonly target: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: string | undefined;
  readonly contentType?: string;
  /** The representation asked for. By default `application/json`. */
  readonly accept?: string | undefined;
  /** Limit for the whole call, or for the headers of a stream, in milliseconds. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Whether a second try after a network failure does no harm. */
  readonly isIdempotent: boolean;
  /** For streams: the longest silence, in milliseconds. */
  readonly inactivityMs?: number;
}

/** An answer that keeps coming. */
export interface Stream {
  readonly body: AsyncIterable<Buffer>;
  /** The error to throw for a failure while reading; the next request dials anew. */
  failed(cause: unknown): unknown;
  /** To call when done with it, in every case. */
  release(): void;
}

/** `get Secret a/b`: how messages about the request begin. */
export function actionOf(call: KubeRequest): string {
  return `${call.verb} ${call.target}`;
}
