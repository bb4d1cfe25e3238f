import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { issueCertificate, type KeyPair, validFor } from '../../../reconciler/pki/issue.ts';

/** Within the time that a connection may be silent. */
const dripMs = 20_000;
/** Within the time that a request may take. */
const listMs = 40_000;
const noObjects = '<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>';

/** A store over HTTP whose lists take most of a minute, and which then reads a byte of an upload each 20 s, and never answers it. */
export class EndlessStore {
  readonly #server = createServer((request, response) => this.#answer(request, response));
  readonly #open = new Map<ServerResponse, string>();
  readonly #host: string;

  private constructor(host: string) {
    this.#host = host;
  }

  static async start(host: string): Promise<EndlessStore> {
    const store = new EndlessStore(host);
    await once(store.#server.listen(0, host), 'listening');
    return store;
  }

  get endpoint(): string {
    return `http://${this.#host}:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The folders of control planes that wait for an answer. */
  get waiting(): readonly string[] {
    return [...new Set(this.#open.values())].sort();
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '', this.endpoint);
    const key = searchParams.get('prefix') ?? pathname.split('/').slice(2).join('/');
    this.#open.set(response, key.split('/').slice(0, 2).join('/'));
    const isList = request.method === 'GET';
    const begun = Date.now();
    if (isList) response.writeHead(200, { 'Content-Type': 'application/xml' });
    const drip = setInterval(() => {
      if (!isList) return void request.read(1);
      if (Date.now() - begun >= listMs) response.end(noObjects);
      else response.write(' ');
    }, dripMs);
    response.on('error', () => {});
    response.on('close', () => {
      clearInterval(drip);
      this.#open.delete(response);
    });
  }
}

/** A token service that answers with credentials of 300 KiB of blanks. */
export class BlankTokenService {
  requests = 0;
  readonly #server: Server;
  readonly #host: string;

  private constructor(server: Server, host: string) {
    this.#host = host;
    this.#server = server;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.requests += 1;
      request.resume();
      const blanks = ' '.repeat(300 * 1024);
      response.end(`<Credentials><AccessKeyId>${blanks}x<SecretAccessKey>${blanks}<Expiration>${blanks}`);
    });
  }

  static async start(ca: KeyPair, host: string): Promise<BlankTokenService> {
    const identity = { commonName: 'tokens', organizations: [], usages: ['server'], hosts: [host] } as const;
    const { certificate: cert, key } = await issueCertificate(identity, ca, validFor(24 * 60 * 60_000, new Date()));
    const server = createSecureServer({ cert, key });
    await once(server.listen(0, host), 'listening');
    return new BlankTokenService(server, host);
  }

  /** Its host and port. */
  get address(): string {
    return `${this.#host}:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
