import { createHash } from 'node:crypto';
import { encrypted, encryptedBytes } from '../encryption.ts';
import type { EncryptionKey } from '../encryption-keys.ts';
import type { ObjectStore } from '../store/object-store.ts';

/** The object that a snapshot becomes. */
export interface SnapshotObject {
  /** Its key in the bucket. */
  readonly name: string;
  /** Encrypts it; without one it is stored as etcd sends it. */
  readonly key: EncryptionKey | undefined;
  /** What the member says of its database, in bytes. @default any size */
  readonly databaseBytes?: number | undefined;
}

/** What a manifest says of a snapshot. */
export interface StoredSnapshot {
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** What ends an upload, and what it reports. */
export interface UploadCalls {
  readonly signal?: AbortSignal | undefined;
  /** Counts bytes of the snapshot. */
  readonly moved?: ((bytes: number) => void) | undefined;
}

/** A database grows between the request for its size and its snapshot. */
const growthBytes = 1 << 30;

/**
 * Stores a snapshot.
 * @param announcedBytes the length of the snapshot, if etcd has said it
 */
export async function storeStream(
  store: ObjectStore,
  { name, key, databaseBytes = Infinity }: SnapshotObject,
  snapshot: AsyncIterable<Uint8Array>,
  { signal, moved }: UploadCalls,
  announcedBytes?: number,
): Promise<StoredSnapshot> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const refuse = (bytes: number): void => {
    if (bytes > databaseBytes + growthBytes)
      throw new Error(
        `the snapshot of etcd does not end: ${mebibytes(bytes)} MiB are more than the ${mebibytes(databaseBytes)} MiB of its database: check the image and the version of etcd`,
      );
  };
  async function* measured(): AsyncGenerator<Uint8Array> {
    for await (const chunk of snapshot) {
      hash.update(chunk);
      sizeBytes += chunk.length;
      refuse(sizeBytes);
      if (announcedBytes !== undefined && sizeBytes > announcedBytes) break;
      moved?.(chunk.length);
      yield chunk;
    }
    if (announcedBytes !== undefined && sizeBytes !== announcedBytes)
      throw new Error(
        `the snapshot of etcd has ${sizeBytes} bytes instead of the ${announcedBytes} that it began with: the operator tries again`,
      );
  }
  refuse(announcedBytes ?? 0);
  const [content, length] = key
    ? [encrypted(measured(), [key]), announcedBytes && encryptedBytes(announcedBytes, key)]
    : [measured(), announcedBytes];
  await store.put(name, content, signal, length);
  return { sizeBytes, sha256: hash.digest('hex') };
}

export function mebibytes(bytes: number): number {
  return Math.round(bytes / (1 << 20));
}
