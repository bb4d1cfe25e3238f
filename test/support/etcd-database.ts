import { createHash } from 'node:crypto';

const magic = 0xed0cdaed;
const flags = { branch: 1, leaf: 2, meta: 4 } as const;

/** Content of a database for a test. */
export interface DatabaseContent {
  /** Revisions of its keys in order; two pages hold them if there are more than one. */
  readonly revisions: readonly number[];
  /** The version that etcd has agreed on; none if unset. */
  readonly etcdVersion?: string | undefined;
  readonly pageSize?: number;
  /** Name of the bucket of the keys. */
  readonly bucket?: string;
}

/** A small file as bbolt writes it: two descriptions, the buckets, and the pages of the keys below a branch. */
export function etcdDatabase({ revisions, etcdVersion, pageSize = 4096, bucket = 'key' }: DatabaseContent): Buffer {
  const keys = revisions.map((revision) => [revisionKey(revision), Buffer.from('value'), 0] as const);
  const half = Math.ceil(keys.length / 2);
  const leaves = [keys.slice(0, half), keys.slice(half)].filter((part) => part.length > 0);
  const version =
    etcdVersion === undefined ? [] : [[Buffer.from('clusterVersion'), Buffer.from(etcdVersion), 0] as const];
  const buckets = page(flags.leaf, 2, [
    [Buffer.from('cluster'), Buffer.concat([bucketOf(0), leaf(0, version)]), 1],
    [Buffer.from(bucket), bucketOf(3), 1],
  ]);
  const branch = page(
    flags.branch,
    3,
    leaves.map((part, index) => [part[0]![0], 4 + index] as const),
  );
  const pages = [meta(0, pageSize, 7n), meta(1, pageSize, 6n), buckets, leaves.length > 0 ? branch : leaf(3, [])];
  const all = [...pages, ...leaves.map((part, index) => leaf(4 + index, part))];
  return Buffer.concat(all.map((content) => Buffer.concat([content, Buffer.alloc(pageSize - content.length)])));
}

/** The file as a member sends it: with its hash. */
export function snapshotOf(content: DatabaseContent): Buffer {
  const database = etcdDatabase(content);
  return Buffer.concat([database, createHash('sha256').update(database).digest()]);
}

function leaf(id: number, elements: readonly (readonly [Buffer, Buffer, number])[]): Buffer {
  return page(flags.leaf, id, elements);
}

type Element = readonly [key: Buffer, value: Buffer, flags: number] | readonly [key: Buffer, child: number];

function page(kind: number, id: number, elements: readonly Element[]): Buffer {
  const heads = Buffer.alloc(elements.length * 16);
  const parts: Buffer[] = [];
  let end = 0;
  for (const [index, [key, second, third]] of elements.entries()) {
    const at = index * 16;
    const distance = heads.length - at + end;
    if (typeof second === 'number') {
      heads.writeUInt32LE(distance, at);
      heads.writeUInt32LE(key.length, at + 4);
      heads.writeBigUInt64LE(BigInt(second), at + 8);
      parts.push(key);
      end += key.length;
    } else {
      heads.writeUInt32LE(third ?? 0, at);
      heads.writeUInt32LE(distance, at + 4);
      heads.writeUInt32LE(key.length, at + 8);
      heads.writeUInt32LE(second.length, at + 12);
      parts.push(key, second);
      end += key.length + second.length;
    }
  }
  return Buffer.concat([header(id, kind, elements.length), heads, ...parts]);
}

function header(id: number, kind: number, count: number): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeBigUInt64LE(BigInt(id), 0);
  bytes.writeUInt16LE(kind, 8);
  bytes.writeUInt16LE(count, 10);
  return bytes;
}

function bucketOf(root: number): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeBigUInt64LE(BigInt(root), 0);
  return bytes;
}

function meta(id: number, pageSize: number, transaction: bigint): Buffer {
  const bytes = Buffer.alloc(64);
  for (const [index, value] of [magic, 2, pageSize].entries()) bytes.writeUInt32LE(value, index * 4);
  bytes.writeBigUInt64LE(2n, 16);
  bytes.writeBigUInt64LE(transaction, 48);
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes.subarray(0, 56)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  bytes.writeBigUInt64LE(hash, 56);
  return Buffer.concat([header(id, flags.meta, 0), bytes]);
}

function revisionKey(revision: number): Buffer {
  const key = Buffer.alloc(17);
  key.writeBigUInt64BE(BigInt(revision), 0);
  key.write('_', 8);
  return key;
}
