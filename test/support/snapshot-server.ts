import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { createCA, issueCertificate, validFor } from '../../reconciler/pki/issue.ts';
import type { MemberPlace } from '../../reconciler/etcd/snapshot.ts';

/** As etcd sends its database. */
const messageBytes = 32 << 10;

/** An etcd member over gRPC that has a snapshot and nothing else, as many as are asked for at once. */
export interface SnapshotServer {
  readonly place: MemberPlace;
  /** The database, with the hash at its end. */
  readonly sizeBytes: number;
  readonly sha256: string;
  /** How many snapshots were asked for. */
  readonly asked: number;
  stop(): Promise<void>;
}

/** @param left what it says of the bytes that follow the first message, if not the truth */
export async function startSnapshotServer(
  databaseBytes: number,
  left = Math.max(0, databaseBytes - messageBytes),
): Promise<SnapshotServer> {
  const validity = validFor(3_600_000, new Date());
  const ca = await createCA({ commonName: 'etcd' }, validity);
  const plan = { commonName: 'etcd', organizations: [], usages: ['server', 'client'], hosts: ['etcd'] } as const;
  const { certificate: cert, key } = await issueCertificate(plan, ca, validity);
  const page = Buffer.alloc(messageBytes, 'a page of a database ');
  const [content, whole] = [createHash('sha256'), createHash('sha256')];
  for (let at = 0; at < databaseBytes; at += messageBytes) {
    const piece = page.subarray(0, databaseBytes - at);
    content.update(piece);
    whole.update(piece);
  }
  const hash = content.digest();

  function* messages(): Generator<Buffer> {
    for (let at = 0; at < databaseBytes; at += messageBytes)
      yield answer(page.subarray(0, databaseBytes - at), at === 0 ? left : 0);
    yield answer(hash, 0);
  }

  let asked = 0;
  const server = createSecureServer({ cert, key });
  server.on('stream', (stream) => {
    asked += 1;
    stream.on('error', () => {});
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.once('data', () => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      void pipeline(messages, stream).catch(() => {});
    });
  });
  server.on('session', (session) => session.on('error', () => {}));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    place: {
      endpoint: { name: 'c1-etcd-0', address: `127.0.0.1:${port}`, serverName: 'etcd' },
      credentials: { ca: ca.certificate, cert, key },
    },
    sizeBytes: databaseBytes + hash.length,
    sha256: whole.update(hash).digest('hex'),
    get asked() {
      return asked;
    },
    stop: async () => {
      server.close();
    },
  };
}

/** A message with `remaining_bytes` and `blob`, in a frame of gRPC. */
function answer(blob: Buffer, remaining: number): Buffer {
  const head = Buffer.from([0x10, ...varint(remaining), 0x1a, ...varint(blob.length)]);
  const frame = Buffer.alloc(5);
  frame.writeUInt32BE(head.length + blob.length, 1);
  return Buffer.concat([frame, head, blob]);
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];
}
