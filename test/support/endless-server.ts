import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';

/**
 * What an {@link EndlessServer} answers: a status, how the body begins, and what follows again and again. With a status below 200 these
 * are whole answers, which come before that of the request.
 */
export interface EndlessAnswer {
  readonly status: number;
  readonly start: string;
  readonly forever: string;
}

/** Answers every request without end, as fast as the client reads, and counts what it has sent. */
export class EndlessServer {
  answer: EndlessAnswer = { status: 200, start: '', forever: ' ' };
  requests = 0;
  sentBytes = 0;
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  static async start(): Promise<EndlessServer> {
    const server = new EndlessServer();
    await new Promise<void>((resolve) => {
      server.#server.listen(0, '127.0.0.1', resolve);
    });
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests += 1;
    request.resume();
    if (this.answer.status < 200) return pipeline(this.#body(), request.socket).catch(() => {});
    response.writeHead(this.answer.status, { 'Content-Type': 'application/xml' });
    // It ends when the client closes the connection.
    await pipeline(this.#body(), response).catch(() => {});
  }

  *#body(): Generator<string> {
    const { start, forever } = this.answer;
    yield start;
    for (const piece = forever.repeat(Math.ceil(65_536 / forever.length)); ; this.sentBytes += piece.length)
      yield piece;
  }
}
