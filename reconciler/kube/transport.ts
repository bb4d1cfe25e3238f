import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as rest } from 'node:timers/promises';
import { request, type Dispatcher } from 'undici';
import { inSpan, traceHeaders } from '../trace/span.ts';
import type { Connection } from './config.ts';
import { Deadline } from './deadline.ts';
import { errorFromStatus, KubeError, parseStatus } from './errors.ts';
import { ReadingSpeed, type SpeedLimit } from './reading-speed.ts';
import { actionOf, answerTooLarge, type KubeRequest, type RequestRecord, type Stream } from './request.ts';

type Answer = Dispatcher.ResponseData;

/** What one server can make the client read. */
export interface TransportLimits {
  /** Maximum size of an answer, and of a part of a stream that has to be read as a whole. */
  readonly maxBytes: number;
  /** How fast all streams together are read. By default as fast as the server sends. */
  readonly watchSpeed?: SpeedLimit | undefined;
}

/**
 * Sends requests over one connection, with deadlines and one retry, and converts every failure to a KubeError. It
 * retries safe requests after a dead connection, and every request that a server rejected with a Retry-After of at most
 * two seconds.
 */
export class Transport {
  readonly #connection: Connection;
  readonly #onRequest: (record: RequestRecord) => void;
  readonly #maxBytes: number;
  readonly #speed: ReadingSpeed | undefined;

  constructor(
    connection: Connection,
    onRequest: (record: RequestRecord) => void,
    { maxBytes, watchSpeed }: TransportLimits,
  ) {
    this.#connection = connection;
    this.#onRequest = onRequest;
    this.#maxBytes = maxBytes;
    this.#speed = watchSpeed && new ReadingSpeed(watchSpeed);
  }

  /**
   * Sends and reads the whole response. Throws KubeError unless the status is 2xx, and the signal's reason on abort.
   */
  async send(call: KubeRequest): Promise<string> {
    const deadline = new Deadline(call.deadlineMs, call.signal);
    try {
      return await this.#withRetry(call, deadline, (dispatcher) =>
        this.#exchange(call, deadline, dispatcher, (answer) => this.#text(call, answer)),
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
      return await this.#withRetry(call, deadline, async (dispatcher) => {
        const { body } = await this.#exchange(call, deadline, dispatcher, (answer) => Promise.resolve(answer));
        deadline.stopClock();
        const failed = (cause: unknown) => this.#failure(call, deadline, dispatcher, cause);
        const spend = async (bytes: number) => this.#speed?.spend(bytes, deadline.signal);
        return { body, spend, release, failed, maxBytes: this.#maxBytes };
      });
    } catch (error) {
      release();
      throw error;
    }
  }

  async #withRetry<T>(call: KubeRequest, deadline: Deadline, attempt: (on: Dispatcher) => Promise<T>): Promise<T> {
    for (let isFirst = true; ; isFirst = false) {
      const dispatcher = this.#connection.dispatcher();
      try {
        return await attempt(dispatcher);
      } catch (error) {
        if (error instanceof KubeError) {
          const restMs = isFirst ? restAfter(error) : undefined;
          if (restMs === undefined) throw error;
          // A terminating server rejects requests on existing connections; another server accepts the next connection.
          if (error.code === 503) this.#connection.renew(dispatcher);
          await rest(restMs, undefined, { signal: deadline.signal }).catch(() => {
            throw call.signal?.aborted ? call.signal.reason : error;
          });
          continue;
        }
        const failure = this.#failure(call, deadline, dispatcher, error);
        if (!isFirst || !call.isIdempotent || deadline.signal.aborted || isRefused(error)) throw failure;
      }
    }
  }

  /** One attempt, as a span of the trace that is going on. */
  #exchange<T>(
    call: KubeRequest,
    deadline: Deadline,
    dispatcher: Dispatcher,
    read: (answer: Answer) => Promise<T>,
  ): Promise<T> {
    const attributes = { 'http.request.method': call.method, 'url.full': this.#connection.baseUrl + call.path };
    return inSpan(`${call.verb} ${call.resource}`.trim(), attributes, (note) =>
      this.#attempt(call, deadline, dispatcher, async (answer) => {
        note({ 'http.response.status_code': answer.statusCode });
        return read(answer);
      }),
    );
  }

  async #attempt<T>(
    call: KubeRequest,
    deadline: Deadline,
    dispatcher: Dispatcher,
    read: (answer: Answer) => Promise<T>,
  ): Promise<T> {
    const headers = await this.#headers(call);
    const startedAt = performance.now();
    let code = 0;
    try {
      const sent = request(this.#connection.baseUrl + call.path, {
        dispatcher,
        method: call.method,
        headers,
        body: call.body ?? null,
        signal: deadline.signal,
        // Only the deadline applies; undici's own timeouts would abort slow responses earlier.
        headersTimeout: 0,
        bodyTimeout: call.inactivityMs ?? 0,
      });
      const answer = await deadline.race(sent);
      if (answer.statusCode >= 200 && answer.statusCode < 300) {
        const result = await deadline.race(read(answer));
        code = answer.statusCode;
        return result;
      }
      const text = await deadline.race(this.#text(call, answer));
      code = answer.statusCode;
      throw errorFromStatus(actionOf(call), code, parseStatus(code, text), retryAfterSeconds(answer.headers));
    } finally {
      this.#onRequest({ verb: call.verb, resource: call.resource, code, ms: performance.now() - startedAt });
    }
  }

  async #text(call: KubeRequest, { body }: Answer): Promise<string> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > this.#maxBytes) throw answerTooLarge(call, this.#maxBytes);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  }

  async #headers(call: KubeRequest): Promise<Record<string, string>> {
    try {
      const headers = {
        ...(await this.#connection.authHeaders()),
        accept: call.accept ?? 'application/json',
        'user-agent': userAgent,
        ...traceHeaders(),
      };
      return call.contentType ? { ...headers, 'content-type': call.contentType } : headers;
    } catch (cause) {
      const message = `${actionOf(call)}: no credentials for ${this.#connection.baseUrl}: ${reasonOf(cause)}`;
      throw new KubeError(message, { code: 0, reason: 'Unauthenticated', cause });
    }
  }

  #failure(call: KubeRequest, deadline: Deadline, dispatcher: Dispatcher, cause: unknown): unknown {
    if (cause instanceof KubeError) return cause;
    if (call.signal?.aborted) return call.signal.reason;
    this.#connection.renew(dispatcher);
    const action = actionOf(call);
    if (deadline.expired) {
      const message = `${action}: ${this.#connection.baseUrl} did not answer within ${call.deadlineMs} ms`;
      return new KubeError(message, { code: 0, reason: 'Timeout', cause });
    }
    const message = `${action}: cannot reach ${this.#connection.baseUrl}: ${reasonOf(cause)}`;
    return new KubeError(message, { code: 0, reason: 'Unreachable', cause });
  }
}

const userAgent = 'cluster-api-provider-hosted-control-plane';

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message || ('code' in cause ? String(cause.code) : cause.name) : String(cause);
}

/** No server listens at the address. Unlike after a dead connection, an immediate retry is useless. */
function isRefused(error: unknown): boolean {
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
