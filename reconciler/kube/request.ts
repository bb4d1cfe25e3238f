import type { HeldText } from './answer-budget.ts';
import { type KubeError, tooLarge } from './errors.ts';
import type { ReadPart } from './reading-speed.ts';
import type { ValueLimits } from './value-counter.ts';

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
  /** Whether the answer is JSON, of which the values are counted. */
  readonly isJson?: boolean | undefined;
  /** Maximum size of the answer. By default that of the client. */
  readonly longestBytes?: number | undefined;
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
  /** Must be called after each part of the body. Resolves when the next one may be read. */
  readonly spend: (part: ReadPart) => Promise<void>;
  /** Maximum size of a part that has to be read as a whole. */
  readonly maxBytes: number;
  /** What such a part may contain. */
  readonly values: ValueLimits;
  /** The room for the part that is being read. */
  readonly held: HeldText;
  /** The error to throw for a failure while reading. The next request opens a new connection. */
  failed(cause: unknown): unknown;
  /** Must be called in every case after the stream is no longer needed. */
  release(): void;
}

/** Nothing arrives on a stream any more, and nothing says why. */
export class SilenceError extends Error {}

/** The error for an answer, or a part of one, that is not read to its end. */
export function answerTooLarge(call: KubeRequest, maxBytes: number): KubeError {
  return answerRefused(call, `is larger than ${maxBytes / 1024 / 1024} MiB`);
}

/** The same for any reason. */
export function answerRefused(call: KubeRequest, why: string): KubeError {
  return tooLarge(`${actionOf(call)}: the answer ${why}`);
}

/** `get Secret a/b`: the start of messages about the request. */
export function actionOf(call: KubeRequest): string {
  return `${call.verb} ${call.target}`;
}
