import { createHash } from 'node:crypto';
import { DatabaseUnreadable, type DatabaseFacts, type ReadAt, readDatabaseFacts } from './etcd-database.ts';

/**
 * A snapshot without a manifest, as other providers store it and as `etcdctl snapshot save` writes it: the database, and
 * the hash that etcd appends to it.
 */
interface BareSnapshot extends DatabaseFacts {
  readonly sizeBytes: number;
  /** Of all bytes, with the hash of etcd. */
  readonly sha256: string;
}

/** Access to the stored object. */
export interface BareObject {
  readonly sizeBytes: number;
  readonly readAt: ReadAt;
  readonly stream: () => AsyncIterable<Uint8Array>;
}

const hashBytes = 32;

/** Databases consist of such blocks. */
const blockBytes = 512;

/** The two pages that describe a database, on a machine with the smallest pages. */
const leastBytes = 8192;

/**
 * Checks everything that can be checked without a manifest: the size, the pages that describe the database, its newest
 * revision, and the hash of etcd over the whole content.
 * @throws a sentence for the user, and the errors of the store
 */
export async function checkBareSnapshot(
  name: string,
  { sizeBytes, readAt, stream }: BareObject,
  accept: (facts: DatabaseFacts) => void = () => {},
): Promise<BareSnapshot> {
  if (sizeBytes < leastBytes + hashBytes || sizeBytes % blockBytes !== hashBytes)
    throw new Error(
      `snapshot ${name} has ${sizeBytes} bytes, so that it is incomplete, or does not end with the hash of etcd: use another one, or one that etcdctl snapshot save has written`,
    );
  const bytesEnd = sizeBytes - hashBytes;
  const facts = await readDatabaseFacts(async (offset, length) =>
    offset < bytesEnd ? readAt(offset, Math.min(length, bytesEnd - offset)) : Buffer.alloc(0),
  ).catch((error: unknown) => {
    throw error instanceof DatabaseUnreadable ? new Error(`snapshot ${name} ${error.message}: use another one`) : error;
  });
  accept(facts);
  const [whole, content] = [createHash('sha256'), createHash('sha256')];
  const ending: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream()) {
    whole.update(chunk);
    const rest = Math.max(0, Math.min(chunk.length, bytesEnd - bytes));
    content.update(chunk.subarray(0, rest));
    if (rest < chunk.length) ending.push(chunk.subarray(rest));
    bytes += chunk.length;
    if (bytes > sizeBytes) break;
  }
  if (bytes !== sizeBytes || !content.digest().equals(Buffer.concat(ending)))
    throw new Error(
      `snapshot ${name} is damaged, because its content differs from the hash that etcd has appended to it (${bytes} of ${sizeBytes} bytes): use another one`,
    );
  return { ...facts, sizeBytes, sha256: whole.digest('hex') };
}

/**
 * The snapshot again. Only the end of the stream confirms that it is the one that was checked: never use a part of it.
 */
export async function* readBareSnapshot(
  name: string,
  { stream }: Pick<BareObject, 'stream'>,
  { sizeBytes, sha256 }: Pick<BareSnapshot, 'sizeBytes' | 'sha256'>,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of stream()) {
    bytes += chunk.length;
    if (bytes > sizeBytes) break;
    hash.update(chunk);
    yield chunk;
  }
  if (bytes === sizeBytes && hash.digest('hex') === sha256) return;
  throw new Error(`snapshot ${name} has changed since it was checked: use another one`);
}

/** What a person must know of a restored snapshot, as a sentence for a condition. */
export function describeBareSnapshot(name: string): string {
  return `snapshot ${name} has no manifest: its size, its database and the hash of etcd are correct, but which Cluster it is of, its Kubernetes version and how many keys it must have are unknown; spec.version must not be older than that version, and CAs, keys and tokens of another control plane are not in it`;
}
