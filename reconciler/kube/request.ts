import { type KubeError, tooLarge } from './errors.ts';

/** One request, for metrics and tests. */
export interface RequestRecord {
  readonly verb: string;
  /** Plural of the resource; empty for non-resource paths. */
  readonly resource: string;
  /** HTTP status; 0 without a response. */
  readonly code: number;
  readonly ms: number;
}

/** One request to send. */
export interface KubeRequest {
  readonly verb: string;
  readonly resource: string;
  /** Target of the request, for error messages: `Secret a/b`. */
  readonly target: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: string | undefined;
  readonly contentType?: string;
  /** The requested representation. By default `application/json`. */
  readonly accept?: string | undefined;
  /** Time limit of the whole call, or until the headers of a stream, in milliseconds. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Whether a retry after a network failure is safe. */
  readonly isIdempotent: boolean;
}

/** A streamed response. */
export interface Stream {
  readonly body: AsyncIterable<Buffer> & { destroy?(): unknown };
  /** Must be called when a part of the body has arrived, before it is read. */
  readonly arrived: () => void;
  /** Must be called after each part of the body, with its size. Resolves when the next one may be read. */
  readonly spend: (bytes: number) => Promise<void>;
  /** Maximum size of a part that has to be read as a whole. */
  readonly maxBytes: number;
  /** The error to throw for a failure while reading. The next request opens a new connection. */
  failed(cause: unknown): unknown;
  /** Must be called in every case after the stream is no longer needed. */
  release(): void;
}

/** Nothing arrives on a stream any more, and nothing says why. */
export class SilenceError extends Error {}

/** The error for an answer, or a part of one, that is not read to its end. */
export function answerTooLarge(call: KubeRequest, maxBytes: number): KubeError {
  return tooLarge(`${actionOf(call)}: the answer is larger than ${maxBytes / 1024 / 1024} MiB`);
}

/** `get Secret a/b`: the start of messages about the request. */
export function actionOf(call: KubeRequest): string {
  return `${call.verb} ${call.target}`;
}
