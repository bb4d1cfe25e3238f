import { createHash } from 'node:crypto';
import { open, rename, rm, statfs } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { createSecureContext } from 'node:tls';
import { restorePaths, type RestorePaths } from '../../constructs/control-plane/etcd/volume.ts';
import { exists, makeDirectory, removeOldest, removeOtherRuns, syncDirectory } from './directories.ts';

/** The snapshot that is waited for. */
export interface ExpectedSnapshot {
  readonly sizeBytes: number;
  /** In hexadecimal digits. */
  readonly sha256: string;
}

export interface ReceiveOptions {
  readonly volume: string;
  /** Id of the run of the restore. */
  readonly run: string;
  readonly expected: ExpectedSnapshot;
  readonly port: number;
  /** All in PEM. Only clients with a certificate of this authority are let in. */
  readonly tls: { readonly ca: string; readonly cert: string; readonly key: string };
}

export interface Receiving {
  /** Where it listens; undefined when the snapshot was there already. */
  readonly port: number | undefined;
  /** Resolves when the whole snapshot is on the volume and whoever sent it knows. */
  readonly received: Promise<void>;
  /** Stops to listen. */
  close(): void;
}

/** What a write-ahead log takes at once, and a margin: etcd allocates its files before it writes. */
const furtherBytes = 192 * 1024 ** 2;

/**
 * Waits for a snapshot, sent by `PUT /snapshot`, until one has arrived with the right size and hash. One that is cut off
 * or differs leaves nothing behind, and the next attempt is waited for.
 * @throws when there is too little room for the snapshot and the data made from it
 */
export async function receive(options: ReceiveOptions): Promise<Receiving> {
  const { volume, run, expected } = options;
  const paths = restorePaths(volume, run);
  // of a restore that was interrupted; the tool that makes it refuses a directory in which there is something
  await rm(paths.restoredData, { recursive: true, force: true });
  if (await exists(paths.snapshot)) return { port: undefined, received: Promise.resolve(), close: () => {} };
  await rm(paths.incoming, { recursive: true, force: true });
  await removeOtherRuns(volume, run);
  await makeRoom(volume, expected.sizeBytes * 2 + furtherBytes);
  await makeDirectory(dirname(paths.incoming));
  await makeDirectory(paths.incoming);
  return listen(options, paths);
}

/** Data set aside by earlier restores goes, the oldest first, when the new data would not fit beside it. */
async function makeRoom(volume: string, neededBytes: number): Promise<void> {
  for (const keep of [1, 0]) {
    await removeOldest(volume, keep);
    if ((await freeBytes(volume)) >= neededBytes) return;
  }
  const mebibytes = (bytes: number) => Math.ceil(bytes / 1024 ** 2);
  throw new Error(
    `the volume has ${mebibytes(await freeBytes(volume))} MiB free, and the restore needs ${mebibytes(neededBytes)} MiB beside the data that is set aside: make the volume larger`,
  );
}

async function freeBytes(volume: string): Promise<number> {
  const { bavail, bsize } = await statfs(volume);
  return bavail * bsize;
}

async function listen({ port, tls, expected }: ReceiveOptions, paths: RestorePaths): Promise<Receiving> {
  // An authority that an issuer has signed is trusted by itself; a server's own options cannot say so.
  const context = createSecureContext({ ...tls, allowPartialTrustChain: true, minVersion: 'TLSv1.2' });
  const server = createServer({
    ...tls,
    SNICallback: (_, answer) => answer(null, context),
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
  });
  // by default a request that takes longer than five minutes is cut off
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

/** One at a time: a new upload ends the one before, whose sender may be gone without this side having noticed. */
function acceptUploads(server: Server, paths: RestorePaths, expected: ExpectedSnapshot, onReceived: () => void): void {
  let current: { readonly request: IncomingMessage; readonly ended: Promise<Answer> } | undefined;
  server.on('request', (request, response) => {
    const refusal = refuse(request, expected);
    if (refusal) return answer(response, refusal);
    const former = current;
    former?.request.destroy(new Error('another upload has begun'));
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
  if (method !== 'PUT' || url !== '/snapshot') return { status: 404, message: 'there is only PUT /snapshot' };
  const announced = headers['content-length'];
  if (announced === String(sizeBytes)) return undefined;
  return { status: 400, message: `${announced ?? 'an unknown number of'} bytes are announced, not ${sizeBytes}` };
}

function answer(response: ServerResponse, { status, message }: Answer): void {
  response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end(`${message}\n`);
}

const kept: Answer = { status: 201, message: 'received' };

/** Writes the body where it belongs if it is right, and leaves nothing if not. Nobody hears the answer to what was cut. */
async function upload(request: IncomingMessage, paths: RestorePaths, expected: ExpectedSnapshot): Promise<Answer> {
  const partial = `${paths.snapshot}.partial`;
  try {
    // not destroyed with the iterator: it is still to be answered
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

/** Gives the hash of what was written. @throws when the body ends too early; a length that was announced ensures that. */
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
