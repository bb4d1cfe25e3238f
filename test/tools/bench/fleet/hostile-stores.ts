import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { KeyPair } from '../../../../reconciler/pki/issue.ts';
import { type BombText, httpBombs } from './http-bombs.ts';

/** Ports of the hostile stores and token services, at all addresses. */
export const hostilePorts = { store: 9_000, tokenService: 9_443 };

const kinds = Object.values(httpBombs);
const keysOfPage = 1_000;
/** A request in so many of a patient store, but no list, is answered with a bomb; by a token service all others. */
const patience = 3;

/** Stores and token services that answer requests with the next kind of bomb. */
export class HostileStores {
  #stores = 0;
  #tokenServices = 0;
  #requests = 0;
  #bombs = 0;
  #keys = 0;
  readonly #isPatient: (address: string) => boolean;

  /** @param isPatient whether the store at an address seems to be one, until a backup has begun */
  constructor(isPatient: (address: string) => boolean) {
    this.#isPatient = isPatient;
  }

  /** Answers that were bombs. */
  get answers(): { readonly stores: number; readonly tokenServices: number } {
    return { stores: this.#stores, tokenServices: this.#tokenServices };
  }

  /** @param pair a certificate for all their addresses */
  serve({ certificate: cert, key }: KeyPair): void {
    const answers = {
      store: (request: IncomingMessage, response: ServerResponse) => this.#answerStore(request, response),
      tokenService: (request: IncomingMessage, response: ServerResponse) => this.#answerTokenService(request, response),
    };
    for (const kind of ['store', 'tokenService'] as const) {
      const server = createServer({ cert, key }, (request, response) => {
        for (const stream of [request, response]) stream.on('error', () => {});
        request.socket.setTimeout(0);
        answers[kind](request, response);
      });
      server.requestTimeout = 0;
      server.on('tlsClientError', () => {});
      server.listen(hostilePorts[kind], '0.0.0.0');
    }
  }

  #answerStore(request: IncomingMessage, response: ServerResponse): void {
    const query = new URL(request.url ?? '', 'https://store').searchParams;
    const isList = request.method === 'GET' && (query.has('list-type') || query.has('uploads'));
    const isPatient = this.#isPatient(request.socket.localAddress ?? '');
    this.#requests += 1;
    if (isPatient && (isList || this.#requests % patience !== 0)) return answerHonestly(request, response, query);
    this.#stores += 1;
    if (!isList || this.#requests % 2 === 0) return this.#bomb(request, response, listText);
    request.resume();
    response.end(this.#nextPage(query.get('prefix') ?? ''));
  }

  /** One of a list without end. */
  #nextPage(prefix: string): string {
    const keys = Array.from({ length: keysOfPage }, () => `<Contents><Key>${prefix}${this.#keys++}</Key></Contents>`);
    return `${listText.begin}<IsTruncated>true</IsTruncated><NextContinuationToken>${this.#keys}</NextContinuationToken>${keys.join('')}</ListBucketResult>`;
  }

  #answerTokenService(request: IncomingMessage, response: ServerResponse): void {
    this.#tokenServices += 1;
    if (this.#tokenServices % patience !== 0) return this.#bomb(request, response, roleText);
    request.resume();
    // The store of this cluster is as hostile.
    const expiration = new Date(Date.now() + 3_600_000).toISOString();
    response.end(
      `${roleText.begin}<AccessKeyId>id</AccessKeyId><SecretAccessKey>key</SecretAccessKey><Expiration>${expiration}</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
    );
  }

  #bomb(request: IncomingMessage, response: ServerResponse, text: BombText): void {
    const at = this.#bombs++;
    // Half of them do not read what they are sent.
    if (Math.floor(at / kinds.length) % 2 === 0) request.resume();
    kinds[at % kinds.length]?.(response, text);
  }
}

const listText: BombText = {
  begin: '<?xml version="1.0"?><ListBucketResult>',
  item: '<Contents><Key>k</Key></Contents>',
};
const roleText: BombText = {
  begin: '<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>',
  item: '<AccessKeyId>',
};

/** As a store answers that is empty, and keeps nothing. */
function answerHonestly(request: IncomingMessage, response: ServerResponse, query: URLSearchParams): void {
  const isPut = request.method === 'PUT';
  if (isPut) request.once('end', () => response.writeHead(200, { etag: '"e"' }).end());
  request.resume();
  if (isPut) return;
  response.setHeader('content-type', 'application/xml');
  if (query.has('list-type')) response.end('<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>');
  else if (request.method === 'POST' && query.has('uploads'))
    response.end('<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>');
  else response.writeHead(404).end();
}
