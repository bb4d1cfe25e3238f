import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createCA, issueCertificate, type KeyPair, validFor } from '../../reconciler/pki/issue.ts';

const validity = () => validFor(24 * 60 * 60_000, new Date());

/** A CA for receivers, which no client trusts by itself. */
export function createReceiverCA(): Promise<KeyPair> {
  return createCA({ commonName: 'audit receivers' }, validity());
}

/** A record of audit.k8s.io/v1, as far as tests read it. */
export interface AuditRecord {
  readonly auditID: string;
  readonly stage: string;
  readonly verb: string;
  readonly objectRef?: { readonly resource?: string; readonly name?: string };
}

/** What a receiver does with a request: a status, no answer at all, or the end of the connection. */
export type Behaviour = number | 'hangs' | 'resets';

/** A receiver of audit records over HTTPS, which keeps what it takes. */
export class AuditReceiver {
  /** The records that it has taken, in order. */
  readonly records: AuditRecord[] = [];
  /** The authorization headers that it has seen, each once in a row. */
  readonly authorizations: (string | undefined)[] = [];
  requests = 0;
  behaviour: Behaviour | ((records: readonly string[]) => Behaviour) = 200;
  readonly #server: Server;
  readonly #port: number;
  readonly #host: string;
  readonly ca: string;

  /** @param host the address of this machine at which it listens */
  static async start(ca: KeyPair, { port = 0, host = '127.0.0.1' } = {}): Promise<AuditReceiver> {
    const identity = { commonName: 'receiver', organizations: [], usages: ['server'], hosts: [host] } as const;
    const { certificate, key } = await issueCertificate(identity, ca, validity());
    const server = createServer({ cert: certificate, key });
    server.listen(port, host);
    await once(server, 'listening');
    return new AuditReceiver(server, host, ca.certificate);
  }

  private constructor(server: Server, host: string, ca: string) {
    this.ca = ca;
    this.#host = host;
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void this.#take(request, response));
  }

  /** The `auditID` of the records that it has taken, in order. */
  get taken(): string[] {
    return this.records.map(({ auditID }) => auditID);
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `https://${this.#host}:${this.#port}/records`;
  }

  /** Ends as a process that is killed: every connection is reset. */
  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { authorization } = request.headers;
    if (this.authorizations.at(-1) !== authorization || this.requests === 0) this.authorizations.push(authorization);
    this.requests += 1;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const list = JSON.parse(Buffer.concat(chunks).toString()) as { kind: string; items: AuditRecord[] };
    if (list.kind !== 'EventList') throw new Error(`the body is a ${list.kind}`);
    const ids = list.items.map(({ auditID }) => auditID);
    const { behaviour } = this;
    const answer = typeof behaviour === 'function' ? behaviour(ids) : behaviour;
    if (answer === 'hangs') return;
    if (answer === 'resets') return void request.socket.destroy();
    if (answer === 200) this.records.push(...list.items);
    response.writeHead(answer).end('{}');
  }
}

/** A body as the API server posts it. */
export function eventList(...ids: readonly string[]): string {
  const items = ids.map((auditID) => ({ level: 'Metadata', auditID, stage: 'ResponseComplete', verb: 'get' }));
  return `${JSON.stringify({ kind: 'EventList', apiVersion: 'audit.k8s.io/v1', metadata: {}, items })}\n`;
}
