import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as rest } from 'node:timers/promises';
import packageManifest from '../../package.json' with { type: 'json' };
import { request, type Dispatcher } from 'undici';
import { inSpan, traceHeaders } from './span.ts';
import type { HeldText, ServerAnswers } from './answer-budget.ts';
import type { DatedAnswer } from './compared-clock.ts';
import type { Connection } from './config.ts';
import { Deadline, unlessAborted } from './deadline.ts';
import { errorFromStatus, KubeError, parseStatus } from './errors.ts';
import type { ReadingSpeed, ReadPart } from './reading-speed.ts';
import { Refusal, RefusedError } from './refusal.ts';
import {
  actionOf,
  answerRefused,
  answerTooLarge,
  type KubeRequest,
  type RequestRecord,
  SilenceError,
  type Stream,
} from './request.ts';
import { ReturnedServer } from './returned-server.ts';
import { ValueCounter, type ValueLimits } from './value-counter.ts';

type Answer = Dispatcher.ResponseData;

/** What one attempt is sent with. */
interface Means {
  readonly dispatcher: Dispatcher;
  readonly credentials: Readonly<Record<string, string>>;
}

/** The callbacks of a transport about its requests and answers. */
export interface TransportObservers {
  readonly onRequest: (record: RequestRecord) => void;
  readonly onAnswer?: ((answer: DatedAnswer) => void) | undefined;
  readonly onBytes?: (() => void) | undefined;
}

/** What one server can make the client read. */
export interface TransportLimits {
  /** Maximum size of an answer, and of a part of a stream that has to be read as a whole. */
  readonly maxBytes: number;
  /** What a JSON answer, or such a part of a stream, may contain. */
  readonly values: ValueLimits;
  /** The room for everything that is being read. By default without limit. */
  readonly answers?: ServerAnswers | undefined;
  /** How fast everything is read. By default as fast as the server sends. */
  readonly speed?: ReadingSpeed | undefined;
}

/** No server says more about a refusal, and errors are kept. */
const longestRefusal = 1024 * 1024;

const withoutLimit: HeldText = { hold: async () => {}, release: () => {} };

/**
 * Sends requests over one connection, with deadlines and one retry, and converts every failure to a KubeError. It
 * retries safe requests after a dead connection, and every request that a server rejected with a Retry-After of at most
 * two seconds. A safe request that a server refused is no attempt: it is sent again until its deadline.
 */
export class Transport {
  readonly #connection: Connection;
  readonly #onRequest: (record: RequestRecord) => void;
  readonly #onAnswer: (answer: DatedAnswer) => void;
  readonly #onBytes: () => void;
  readonly #limits: TransportLimits;
  readonly #returned = new ReturnedServer();

  constructor(
    connection: Connection,
    { onRequest, onAnswer = () => {}, onBytes = () => {} }: TransportObservers,
    limits: TransportLimits,
  ) {
    this.#connection = connection;
    this.#onRequest = onRequest;
    this.#onAnswer = onAnswer;
    this.#onBytes = onBytes;
    this.#limits = limits;
  }

  /**
   * Sends and reads the whole response. Throws KubeError unless the status is 2xx, and the signal's reason on abort.
   * @param parse makes the result of the text, which is dropped then
   */
  async send<T>(call: KubeRequest, parse: (text: string) => T): Promise<T> {
    const deadline = new Deadline(call.deadlineMs, call.signal);
    try {
      return await this.#withRetry(call, deadline, (means) =>
        this.#exchange(call, deadline, means, (answer) => this.#read(call, deadline, answer, parse)),
      );
    } finally {
      deadline.release();
    }
  }

  /** Sends and returns as soon as a 2xx status has arrived. An abort of the call's signal ends the stream. */
  async stream(call: KubeRequest): Promise<Stream> {
    const deadline = new Deadline(call.deadlineMs, call.signal);
    const release = (): void => deadline.release();
    try {
      return await this.#withRetry(call, deadline, async (means) => {
        const { body } = await this.#exchange(call, deadline, means, (answer) => Promise.resolve(answer));
        deadline.stopClock();
        const failed = (cause: unknown) => this.#failure(call, deadline, means.dispatcher, cause);
        const { maxBytes, values, speed } = this.#limits;
        const spend = async (part: ReadPart) => speed?.spend(part, deadline.signal);
        const held = this.#held(body, deadline.signal);
        return { body, spend, arrived: this.#onBytes, release, failed, maxBytes, values, held };
      });
    } catch (error) {
      release();
      throw error;
    }
  }

  async #withRetry<T>(call: KubeRequest, deadline: Deadline, attempt: (means: Means) => Promise<T>): Promise<T> {
    for (let isFirst = true; ;) {
      const credentials = await this.#credentials(call);
      // Only now: the server may ask to leave a connection meanwhile.
      const dispatcher = this.#connection.dispatcher();
      try {
        return await attempt({ dispatcher, credentials });
      } catch (error) {
        if (error instanceof RefusedError) continue;
        const mayRetry = isFirst;
        isFirst = false;
        if (error instanceof KubeError) {
          const restMs = mayRetry ? restAfter(error) : undefined;
          if (restMs === undefined) throw error;
          // A terminating server rejects requests on existing connections; another server accepts the next connection.
          if (error.code === 503) this.#connection.renew(dispatcher);
          await rest(restMs, undefined, { signal: deadline.signal }).catch(() => {
            throw call.signal?.aborted ? call.signal.reason : error;
          });
          continue;
        }
        const failure = this.#failure(call, deadline, dispatcher, error);
        if (!mayRetry || !call.isIdempotent || deadline.signal.aborted || isUnreachable(error)) throw failure;
      }
    }
  }

  /** One attempt, as a span of the trace that is going on. */
  #exchange<T>(call: KubeRequest, deadline: Deadline, means: Means, read: (answer: Answer) => Promise<T>): Promise<T> {
    const attributes = { 'http.request.method': call.method, 'url.full': this.#connection.baseUrl + call.path };
    return inSpan(`${call.verb} ${call.resource}`.trim(), attributes, (note) =>
      this.#attempt(call, deadline, means, async (answer) => {
        note({ 'http.response.status_code': answer.statusCode });
        return read(answer);
      }),
    );
  }

  async #attempt<T>(
    call: KubeRequest,
    deadline: Deadline,
    { dispatcher, credentials }: Means,
    read: (answer: Answer) => Promise<T>,
  ): Promise<T> {
    const refusal = call.isIdempotent ? new Refusal(dispatcher) : undefined;
    const signal = refusal ? AbortSignal.any([deadline.signal, refusal.signal]) : deadline.signal;
    const startedAt = performance.now();
    let code = 0;
    try {
      const sent = request(this.#connection.baseUrl + call.path, {
        dispatcher,
        method: call.method,
        headers: { ...credentials, ...headersOf(call) },
        body: call.body ?? null,
        signal,
        // Only the deadline applies, and to a stream what its reader measures: undici's own timeouts would abort slow answers earlier.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      const answer = await unlessAborted(signal, sent).finally(() => refusal?.release());
      this.#onAnswer({ date: textOf(answer.headers['date']), tookMs: performance.now() - startedAt });
      if (answer.statusCode >= 200 && answer.statusCode < 300) {
        const result = await unlessAborted(signal, read(answer));
        code = answer.statusCode;
        this.#returned.noteSuccess();
        return result;
      }
      const { statusCode, headers } = answer;
      const longestBytes = Math.min(longestRefusal, this.#limits.maxBytes);
      const reason = { ...call, longestBytes, isJson: true };
      const status = await unlessAborted(
        signal,
        this.#read(reason, deadline, answer, (text) => parseStatus(statusCode, text)),
      );
      code = statusCode;
      const error = errorFromStatus(actionOf(call), code, status, retryAfterSeconds(headers));
      throw code === 403 && !this.#returned.decides(performance.now()) ? startingError(error) : error;
    } finally {
      this.#onRequest({ verb: call.verb, resource: call.resource, code, ms: performance.now() - startedAt });
    }
  }

  async #read<T>(call: KubeRequest, { signal }: Deadline, { body }: Answer, parse: (text: string) => T): Promise<T> {
    const { values, maxBytes, speed } = this.#limits;
    const longestBytes = call.longestBytes ?? maxBytes;
    const counter = call.isJson ? new ValueCounter(values, (why) => answerRefused(call, why)) : undefined;
    const held = this.#held(body, signal);
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        this.#onBytes();
        bytes += chunk.length;
        if (bytes > longestBytes) throw answerTooLarge(call, longestBytes);
        const found = counter?.take(chunk) ?? 0;
        chunks.push(chunk);
        await held.hold(bytes);
        await speed?.spend({ bytes: chunk.length, values: found }, signal);
      }
      return parse(Buffer.concat(chunks).toString('utf8'));
    } finally {
      held.release();
    }
  }

  #held(body: Answer['body'], signal: AbortSignal): HeldText {
    return this.#limits.answers?.open((error) => void body.destroy(error), signal) ?? withoutLimit;
  }

  async #credentials(call: KubeRequest): Promise<Record<string, string>> {
    try {
      return await this.#connection.authHeaders();
    } catch (cause) {
      const message = `${actionOf(call)}: no credentials for ${this.#connection.baseUrl}: ${reasonOf(cause)}`;
      throw new KubeError(message, { code: 0, reason: 'Unauthenticated', cause });
    }
  }

  #failure(call: KubeRequest, deadline: Deadline, dispatcher: Dispatcher, cause: unknown): unknown {
    if (cause instanceof KubeError) return cause;
    if (call.signal?.aborted) return call.signal.reason;
    this.#connection.renew(dispatcher);
    this.#returned.noteAway();
    const action = actionOf(call);
    if (deadline.expired) {
      const message = `${action}: ${this.#connection.baseUrl} did not answer within ${call.deadlineMs} ms`;
      return new KubeError(message, { code: 0, reason: 'Timeout', cause });
    }
    if (cause instanceof SilenceError) {
      const message = `${action}: ${this.#connection.baseUrl} is silent: ${cause.message}`;
      return new KubeError(message, { code: 0, reason: 'Silent', cause });
    }
    const message = `${action}: cannot reach ${this.#connection.baseUrl}: ${reasonOf(cause)}`;
    return new KubeError(message, { code: 0, reason: 'Unreachable', cause });
  }
}

/** The error for a refusal that is none yet. */
function startingError({ message: said }: KubeError): KubeError {
  const message = `${said}: the API server has just come back, and may not have read its roles yet`;
  return new KubeError(message, { code: 503, reason: 'ServiceUnavailable' });
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function headersOf({ accept = 'application/json', contentType }: KubeRequest): Record<string, string> {
  const headers = { accept, 'user-agent': packageManifest.name, ...traceHeaders() };
  return contentType ? { ...headers, 'content-type': contentType } : headers;
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message || ('code' in cause ? String(cause.code) : cause.name) : String(cause);
}

/** No server listens at the address. Unlike after a dead connection, an immediate retry is useless. */
function isUnreachable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
}

/** The queue handles longer delays, because it can process other keys meanwhile. */
const longestRestMs = 2_000;

/**
 * Delay in milliseconds before a retry of any call: a terminating or overloaded API server has rejected it without side
 * effects. Undefined for every other error.
 */
function restAfter({ code, retryAfterSeconds: seconds }: KubeError): number | undefined {
  if ((code !== 429 && code !== 503) || seconds === undefined) return undefined;
  return seconds * 1000 <= longestRestMs ? seconds * 1000 : undefined;
}

function retryAfterSeconds(headers: IncomingHttpHeaders): number | undefined {
  const seconds = Number(headers['retry-after']);
  return Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
}
