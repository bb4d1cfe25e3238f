import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createCA, issueCertificate, type KeyPair, validFor } from '../../reconciler/pki/issue.ts';
import type { StoreSettings } from '../../reconciler/backup/store/store-settings.ts';

const bucket = 'backups';

/** What S3 answers to a write to a bucket with Object Lock whose checksum is missing or wrong. */
function withoutChecksum(headers: IncomingHttpHeaders, content: Buffer): string | undefined {
  const given = headers['content-md5'];
  const error = (code: string, message: string) => `<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
  if (given === undefined)
    return error(
      'InvalidRequest',
      'Content-MD5 OR x-amz-checksum- HTTP header is required for Put Object requests with Object Lock parameters',
    );
  const right = createHash('md5').update(content).digest('base64');
  return given === right
    ? undefined
    : error('BadDigest', 'The Content-MD5 you specified did not match what we received.');
}

/**
 * The part of S3 that backups of a few bytes need, in memory and over HTTP or HTTPS: objects and ranges of them, lists of one page, and multipart
 * uploads that were started. Tests on a real server cover the protocol itself.
 */
export class ObjectStoreServer {
  readonly objects = new Map<string, Buffer>();
  /** Keys of multipart uploads that were started, and when. */
  readonly uploads = new Map<string, Date>();
  /** A key of every page of a list without end; lists end if unset. */
  listsWithoutEnd: string | undefined;
  /** How many pages of lists were asked for. */
  lists = 0;
  /** What the server does when it is to write only an object that does not exist yet. */
  conditions: 'kept' | 'ignored' | 'unsupported' = 'kept';
  /** Whether the bucket keeps objects for a time (Object Lock), for which S3 demands a checksum of what is written. */
  isLocked = false;
  /** Called with the content of each object before the server looks whether there is one, and stores it. */
  beforeWrite: (text: string) => Promise<void> = async () => {};
  readonly #parts = new Map<string, Map<number, Buffer>>();
  /** Objects and parts that were written, with the hash of the content in the signature. */
  readonly writes: { readonly kind: 'object' | 'part'; readonly hash: string; readonly bytes: number }[] = [];
  /** Statuses with which it refuses a write, before it has read it; undefined for one that it takes. */
  refuses: (headers: IncomingHttpHeaders) => number | undefined = () => undefined;
  readonly #tls: Tls | undefined;
  readonly #server;

  private constructor(tls: Tls | undefined) {
    this.#tls = tls;
    const answer = (request: IncomingMessage, response: ServerResponse) => void this.#answer(request, response);
    this.#server = tls ? createSecureServer(tls.pair, answer) : createServer(answer);
  }

  /** @param security `tls` for a certificate of a CA that only the settings contain */
  static async start(security: 'plain' | 'tls' = 'plain'): Promise<ObjectStoreServer> {
    const store = new ObjectStoreServer(security === 'tls' ? await tlsOfThisMachine() : undefined);
    await new Promise<void>((resolve) => {
      store.#server.listen(0, '127.0.0.1', resolve);
    });
    return store;
  }

  get settings(): StoreSettings {
    const { port } = this.#server.address() as AddressInfo;
    if (!this.#tls) return storeAt(`http://127.0.0.1:${port}`);
    return { ...storeAt(`https://127.0.0.1:${port}`), certificateAuthority: this.#tls.ca };
  }

  stop(): void {
    this.#server.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://store');
    const key = decodeURIComponent(pathname).slice(`/${bucket}/`.length);
    const prefix = searchParams.get('prefix') ?? '';
    const status = request.method === 'PUT' ? this.refuses(request.headers) : undefined;
    if (status !== undefined)
      return void response.writeHead(status, { Connection: 'close' }).end(() => request.destroy());
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    try {
      for await (const chunk of request as AsyncIterable<Uint8Array>) {
        bytes += chunk.length;
        chunks.push(chunk);
      }
    } catch {
      // It ended early: nothing is stored.
      return;
    }
    const xml = (text: string) => response.writeHead(200, { 'Content-Type': 'application/xml' }).end(text);
    const object = this.objects.get(key);

    if (request.method === 'POST' && searchParams.has('uploads')) {
      this.uploads.set(key, new Date());
      return void xml(`<InitiateMultipartUploadResult><UploadId>of-${key}</UploadId></InitiateMultipartUploadResult>`);
    }
    if (request.method === 'POST') {
      const parts = [...(this.#parts.get(key) ?? [])].toSorted(([one], [other]) => one - other);
      this.objects.set(key, Buffer.concat(parts.map(([, content]) => content)));
      this.uploads.delete(key);
      return void xml('<CompleteMultipartUploadResult></CompleteMultipartUploadResult>');
    }
    if (searchParams.has('uploads')) return void xml(this.#listUploads(prefix));
    if (searchParams.has('list-type')) return void xml(this.#list(prefix));
    if (request.method === 'PUT') {
      const content = Buffer.concat(chunks);
      const refusal = this.isLocked ? withoutChecksum(request.headers, content) : undefined;
      if (refusal !== undefined)
        return void response.writeHead(400, { 'Content-Type': 'application/xml' }).end(refusal);
      await this.beforeWrite(content.toString());
      const isConditional = request.headers['if-none-match'] === '*';
      if (isConditional && this.conditions === 'unsupported') return void response.writeHead(501).end();
      if (isConditional && this.conditions === 'kept' && this.objects.has(key))
        return void response.writeHead(412).end();
      const part = searchParams.get('partNumber');
      const hash = String(request.headers['x-amz-content-sha256']);
      this.writes.push({ kind: part === null ? 'object' : 'part', hash, bytes });
      if (part === null) this.objects.set(key, content);
      // Parts arrive in any order.
      else this.#parts.set(key, (this.#parts.get(key) ?? new Map<number, Buffer>()).set(Number(part), content));
      return void response.writeHead(200, { ETag: '"etag"' }).end();
    }
    if (request.method === 'DELETE') {
      (searchParams.has('uploadId') ? this.uploads : this.objects).delete(key);
      return void response.writeHead(204).end();
    }
    if (!object) return void response.writeHead(404).end();
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    const part = from === undefined ? object : object.subarray(Number(from), Number(to) + 1);
    response
      .writeHead(from === undefined ? 200 : 206, { 'Content-Length': part.length })
      .end(request.method === 'HEAD' ? undefined : part);
  }

  #list(prefix: string): string {
    this.lists += 1;
    if (this.listsWithoutEnd !== undefined)
      return `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>n</NextContinuationToken>${this.listsWithoutEnd}</ListBucketResult>`;
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix));
    const contents = keys.map((key) => `<Contents><Key>${key}</Key></Contents>`);
    return `<ListBucketResult><IsTruncated>false</IsTruncated>${contents.join('')}</ListBucketResult>`;
  }

  #listUploads(prefix: string): string {
    const begun = [...this.uploads].filter(([key]) => key.startsWith(prefix));
    const uploads = begun.map(
      ([key, at]) =>
        `<Upload><Key>${key}</Key><UploadId>of-${key}</UploadId><Initiated>${at.toISOString()}</Initiated></Upload>`,
    );
    return `<ListMultipartUploadsResult>${uploads.join('')}</ListMultipartUploadsResult>`;
  }
}

interface Tls {
  /** PEM of its CA. */
  readonly ca: string;
  readonly pair: { readonly cert: string; readonly key: string };
}

async function tlsOfThisMachine(): Promise<Tls> {
  const validity = validFor(3_600_000, new Date());
  const ca = await createCA({ commonName: 'store' }, validity);
  const plan = { commonName: 'store', organizations: [], usages: ['server'], hosts: ['127.0.0.1'] } as const;
  const { certificate: cert, key }: KeyPair = await issueCertificate(plan, ca, validity);
  return { ca: ca.certificate, pair: { cert, key } };
}

/** The settings of a store at this URL. */
export function storeAt(endpoint: string): StoreSettings {
  const credentials = { kind: 'static', accessKeyId: 'id', secretAccessKey: 'key' } as const;
  return { endpoint, region: 'us-east-1', bucket, prefix: '', credentials };
}
