import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { FanOutConfig, Target } from '../../../constructs/control-plane/api-server/audit/fan-out-config.ts';
import { readEventList } from './event-list.ts';
import { formatMetrics, TargetMetrics } from './metrics.ts';
import { createSender } from './post.ts';
import { TargetQueue } from './target-queue.ts';

export interface FanOutOptions {
  readonly config: FanOutConfig;
  /** Reads the token that the API server must send. */
  readonly readToken: () => Promise<string>;
  /** For each request to a receiver. */
  readonly timeoutMs: number;
  /** Bytes of records that may wait for one receiver. The receivers share the memory of the same records. */
  readonly queueBytes: number;
  /** Milliseconds to wait after this many failures of a receiver in a row. */
  readonly backOffMs: (failures: number) => number;
  readonly log: (line: string) => void;
}

/** What the API server sends at most in one request, with a margin: see its flags. */
const bodyBytes = 16 * 1024 ** 2;
const longestRequestBytes = 4 * 1024 ** 2;

/** Takes records of the API server, and sends each of them to every receiver. No receiver waits for another one. */
export class FanOut {
  /** Takes the records, by POST with the token. */
  readonly server: Server;
  /** Answers `/healthz` and `/metrics`. */
  readonly healthServer: Server;
  readonly #options: FanOutOptions;
  readonly #receivers: readonly Receiver[];

  constructor(options: FanOutOptions) {
    this.#options = options;
    this.#receivers = options.config.targets.map((target) => receiverOf(target, options));
    this.server = createServer((request, response) => {
      void this.#answer(request).then(
        ([status, message]) => response.writeHead(status, { 'content-type': 'text/plain' }).end(`${message}\n`),
        () => response.destroy(),
      );
    });
    // Longer than the API server keeps an idle connection: ended at the moment of a request, it would cost the records.
    this.server.keepAliveTimeout = 120_000;
    this.healthServer = createServer(({ url }, response) => {
      if (url === '/healthz') return response.end('ok\n');
      if (url === '/metrics')
        return response.setHeader('content-type', 'text/plain').end(formatMetrics(this.#sources()));
      response.writeHead(404).end('not found: use /healthz or /metrics\n');
    });
  }

  /** Stops taking records, and sends those that are queued until the time is over. */
  async end(time: Promise<unknown>): Promise<void> {
    this.server.close();
    this.server.closeIdleConnections();
    await Promise.all(this.#receivers.map(({ queue }) => queue.end(time)));
    for (const { server, queue } of this.#receivers) {
      const { records } = queue.waiting;
      if (records > 0) this.#options.log(`${records} audit records for ${server} are lost: the time to stop is over`);
    }
    this.server.closeAllConnections();
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    if (request.method !== 'POST') return [405, 'audit records are taken by POST'];
    if (!isSame(request.headers.authorization, basic(await this.#options.readToken())))
      return [401, 'the token is missing or wrong'];
    const body = await read(request);
    if (!body) return [413, `a request has at most ${bodyBytes} bytes`];
    const records = readEventList(body);
    if (!records) return [400, 'the body is not an EventList of audit.k8s.io/v1'];
    const taken = Promise.all(this.#receivers.map(({ queue }) => queue.offer(records)));
    if (this.#options.config.mode === 'batch') return [200, 'queued'];
    const missing = (await taken).filter((isTaken) => !isTaken).length;
    if (missing === 0) return [200, 'delivered'];
    const message = `${missing} of ${this.#receivers.length} receivers have not taken the records`;
    return [this.#options.config.mode === 'blocking' ? 200 : 500, message];
  }

  #sources() {
    return this.#receivers.map(({ metrics, queue }) => ({ metrics, waiting: queue.waiting }));
  }
}

type Answer = readonly [status: number, message: string];

interface Receiver {
  readonly server: string;
  readonly metrics: TargetMetrics;
  readonly queue: TargetQueue;
}

function receiverOf(target: Target, { config, timeoutMs, queueBytes, backOffMs, log }: FanOutOptions): Receiver {
  const { server } = target;
  const metrics = new TargetMetrics(server);
  let before = 0;
  const queue = new TargetQueue({
    send: createSender(target, timeoutMs),
    limitBytes: queueBytes,
    // What is on its way is not dropped, and must leave room for newer records.
    requestBytes: Math.min(longestRequestBytes, queueBytes / 4),
    retries: config.mode !== 'blocking-strict',
    backOffMs,
    onDelivered: (records) => (metrics.delivered += records),
    onDropped: (records, reason) => (metrics.dropped[reason] += records),
    onHealth: (problem) => {
      if (problem !== undefined) return log(`audit records for ${server} wait: ${problem}`);
      log(`audit records for ${server} are taken again; ${metrics.droppedRecords - before} were dropped meanwhile`);
      before = metrics.droppedRecords;
    },
  });
  return { server, metrics, queue };
}

/** The body; undefined if it is too long. */
async function read(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // The iterator must not destroy the request, which still needs its answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}

/** What the API server sends for the user `audit` with the token as its password. */
function basic(token: string): string {
  return `Basic ${Buffer.from(`audit:${token}`).toString('base64')}`;
}

/** Compares in a time that does not depend on the content. */
function isSame(given: string | undefined, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given ?? ''), digest(expected));
}
