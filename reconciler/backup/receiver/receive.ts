import { createHash } from 'node:crypto';
import { open, rename, rm, statfs } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { createSecureContext } from 'node:tls';
import { restorePaths, type RestorePaths } from '../../../constructs/control-plane/etcd/volume.ts';
import { exists, makeDirectory, removeOldest, removeOtherRuns, syncDirectory } from './data-directories.ts';

/** The expected snapshot. */
interface ExpectedSnapshot {
  readonly sizeBytes: number;
  /** In hexadecimal digits. */
  readonly sha256: string;
}

export interface ReceiveOptions {
  readonly volume: string;
  /** ID of the restore run. */
  readonly run: string;
  readonly expected: ExpectedSnapshot;
  readonly port: number;
  /** PEM. The receiver accepts only clients with a certificate of this CA. */
  readonly tls: { readonly ca: string; readonly cert: string; readonly key: string };
}

export interface Receiving {
  /** Port on which it listens; undefined if the snapshot exists already. */
  readonly port: number | undefined;
  /** Resolves when the whole snapshot is on the volume and the sender has the answer. */
  readonly received: Promise<void>;
  /** Stops listening. */
  close(): void;
}

/** Initial size of a write-ahead log, and a margin: etcd preallocates its files. */
const furtherBytes = 192 * 1024 ** 2;

/**
 * Waits until a snapshot with the expected size and hash has arrived by `PUT /snapshot`. An upload that is interrupted
 * or differs leaves nothing behind, and the receiver waits for the next one.
 * @throws when there is not enough space for the snapshot and the data made from it
 */
export async function receive(options: ReceiveOptions): Promise<Receiving> {
  const { volume, run, expected } = options;
  const paths = restorePaths(volume, run);
  // Left by an interrupted restore. etcdutl refuses a directory that is not empty.
  await rm(paths.restoredData, { recursive: true, force: true });
  if (await exists(paths.snapshot)) return { port: undefined, received: Promise.resolve(), close: () => {} };
  await rm(paths.incoming, { recursive: true, force: true });
  await removeOtherRuns(volume, run);
  await makeRoom(volume, expected.sizeBytes * 2 + furtherBytes);
  await makeDirectory(dirname(paths.incoming));
  await makeDirectory(paths.incoming);
  return listen(options, paths);
}

/** Removes data that earlier restores have set aside, the oldest first, until the new data fits. */
async function makeRoom(volume: string, neededBytes: number): Promise<void> {
  for (const keep of [1, 0]) {
    await removeOldest(volume, keep);
    if ((await freeBytes(volume)) >= neededBytes) return;
  }
  const mebibytes = (bytes: number) => Math.ceil(bytes / 1024 ** 2);
  throw new Error(
    `the volume has ${mebibytes(await freeBytes(volume))} MiB free, but the restore needs ${mebibytes(neededBytes)} MiB in addition to the current data: expand the volume`,
  );
}

async function freeBytes(volume: string): Promise<number> {
  const { bavail, bsize } = await statfs(volume);
  return bavail * bsize;
}

async function listen({ port, tls, expected }: ReceiveOptions, paths: RestorePaths): Promise<Receiving> {
  // A CA certificate that an issuer has signed is trusted without the issuer's certificate. The options of a server
  // cannot express that.
  const context = createSecureContext({ ...tls, allowPartialTrustChain: true, minVersion: 'TLSv1.2' });
  const server = createServer({
    ...tls,
    SNICallback: (_, answer) => answer(null, context),
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
  });
  // By default Node ends a request after five minutes.
  server.requestTimeout = 0;
  const received = new Promise<void>((resolve) => acceptUploads(server, paths, expected, resolve));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, resolve);
  });
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { port: (server.address() as AddressInfo).port, received: received.then(close), close };
}

/**
 * Accepts one upload at a time. A new upload ends the previous one, because its sender may be gone without a sign on
 * this side.
 */
function acceptUploads(server: Server, paths: RestorePaths, expected: ExpectedSnapshot, onReceived: () => void): void {
  let current: { readonly request: IncomingMessage; readonly ended: Promise<Answer> } | undefined;
  server.on('request', (request, response) => {
    const refusal = refuse(request, expected);
    if (refusal) return answer(response, refusal);
    const former = current;
    former?.request.destroy(new Error('another upload has started'));
    const ended = Promise.resolve(former?.ended).then((end) =>
      end === kept ? kept : upload(request, paths, expected),
    );
    current = { request, ended };
    void ended.then((end) => {
      if (end === kept) response.once('close', onReceived);
      answer(response, end);
    });
  });
}

interface Answer {
  readonly status: number;
  readonly message: string;
}

function refuse({ method, url, headers }: IncomingMessage, { sizeBytes }: ExpectedSnapshot): Answer | undefined {
  if (method !== 'PUT' || url !== '/snapshot') return { status: 404, message: 'not found: use PUT /snapshot' };
  const announced = headers['content-length'];
  if (announced === String(sizeBytes)) return undefined;
  return {
    status: 400,
    message: `content-length is ${announced ?? 'not set'}, but the snapshot has ${sizeBytes} bytes`,
  };
}

function answer(response: ServerResponse, { status, message }: Answer): void {
  response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end(`${message}\n`);
}

const kept: Answer = { status: 201, message: 'received' };

/**
 * Stores the body if it is correct, and leaves nothing behind if not. The sender of an interrupted upload does not get
 * the answer.
 */
async function upload(request: IncomingMessage, paths: RestorePaths, expected: ExpectedSnapshot): Promise<Answer> {
  const partial = `${paths.snapshot}.partial`;
  try {
    // The iterator must not destroy the request, which still needs its answer.
    const sha256 = await write(request.iterator({ destroyOnReturn: false }), partial);
    if (sha256 === expected.sha256) {
      await rename(partial, paths.snapshot);
      await syncDirectory(paths.incoming);
      return kept;
    }
    await rm(partial);
    return { status: 422, message: `the hash is ${sha256} instead of ${expected.sha256}` };
  } catch (error) {
    await rm(partial, { force: true });
    return { status: 507, message: String(error) };
  }
}

/** Writes the body and returns its hash. @throws when the body ends before its announced length */
async function write(body: AsyncIterable<Uint8Array>, path: string): Promise<string> {
  const hash = createHash('sha256');
  const file = await open(path, 'w', 0o600);
  try {
    for await (const chunk of body) {
      hash.update(chunk);
      await file.writeFile(chunk);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return hash.digest('hex');
}
