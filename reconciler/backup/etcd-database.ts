// Not `etcdutl snapshot status`: a pod would have it only after the download, and a snapshot of a newer etcd is refused before that.

/** Reads bytes of a database file; fewer at its end. */
export type ReadAt = (offset: number, length: number) => Promise<Buffer>;

/** What the file of an etcd member says about itself. */
export interface DatabaseFacts {
  /** The newest revision. */
  readonly revision: number;
  /** Minor version of the etcd cluster, such as `3.6.0`; undefined if etcd had not agreed on one yet. */
  readonly etcdVersion: string | undefined;
}

/** The file is no database of etcd, or it is damaged. The message completes "the snapshot ...". */
export class DatabaseUnreadable extends Error {
  override readonly name = 'DatabaseUnreadable';
}

const headerBytes = 16;
const elementBytes = 16;
const metaBytes = 64;
const checkedMetaBytes = 56;
const magic = 0xed0cdaed;
const flags = { branch: 0x01, leaf: 0x02, meta: 0x04, bucket: 0x01 } as const;

/** etcd stores no value that would need more. */
const largestPage = 32 << 20;
/** A tree of this depth holds more keys than a file has bytes. */
const deepestTree = 24;

/**
 * Reads the facts from a file of bbolt, etcd's database: the newest revision is the last key of its bucket `key`. It
 * reads some pages only, and trusts no number in them.
 * @throws DatabaseUnreadable, and the errors of `readAt`
 */
export async function readDatabaseFacts(readAt: ReadAt): Promise<DatabaseFacts> {
  const { pageSize, root } = await newestMeta(readAt);
  const page = (id: number): Promise<Buffer> => pageAt(readAt, id, pageSize);
  const buckets = await page(root);
  const keys = bucketIn(buckets, 'key');
  const last = keys && (await lastKey(page, await rootOf(page, keys)));
  // Eight bytes of the write, a separator, and eight bytes of the change within it.
  if (last === undefined || last.length < 17 || last[8] !== 0x5f)
    throw new DatabaseUnreadable('contains no revision of etcd');
  const cluster = bucketIn(buckets, 'cluster');
  const version = cluster && elementsOf(await rootOf(page, cluster)).find(({ key }) => key.equals(versionKey))?.value;
  const etcdVersion = version?.toString('utf8');
  return {
    revision: Number(last.readBigUInt64BE(0)),
    etcdVersion: etcdVersion !== undefined && /^\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(etcdVersion) ? etcdVersion : undefined,
  };
}

const versionKey = Buffer.from('clusterVersion');

/** Of the two descriptions of the file that bbolt writes in turn, the newer one that is whole. */
async function newestMeta(readAt: ReadAt): Promise<{ pageSize: number; root: number }> {
  const first = metaIn(await readAt(0, headerBytes + metaBytes));
  // The second one begins at the page size, which is unknown if the first one is damaged.
  const sizes = first ? [first.pageSize] : [4096, 8192, 16_384, 65_536];
  const others = await Promise.all(sizes.map(async (size) => metaIn(await readAt(size, headerBytes + metaBytes))));
  const [newest] = [first, ...others]
    .flatMap((meta) => meta ?? [])
    .sort((a, b) => Number(b.transaction - a.transaction));
  if (!newest) throw new DatabaseUnreadable('does not begin as a database of etcd');
  return newest;
}

function metaIn(bytes: Buffer): { pageSize: number; root: number; transaction: bigint } | undefined {
  if (bytes.length < headerBytes + metaBytes) return undefined;
  const meta = bytes.subarray(headerBytes);
  const isMeta = bytes.readUInt16LE(8) === flags.meta && meta.readUInt32LE(0) === magic && meta.readUInt32LE(4) === 2;
  const pageSize = meta.readUInt32LE(8);
  if (!isMeta || pageSize < 1024 || pageSize > 65_536) return undefined;
  if (meta.readBigUInt64LE(checkedMetaBytes) !== fnv1a(meta.subarray(0, checkedMetaBytes))) return undefined;
  return { pageSize, root: Number(meta.readBigUInt64LE(16)), transaction: meta.readBigUInt64LE(48) };
}

function fnv1a(bytes: Buffer): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  return hash;
}

async function pageAt(readAt: ReadAt, id: number, pageSize: number): Promise<Buffer> {
  const page = await readAt(id * pageSize, pageSize);
  if (page.length < headerBytes) throw new DatabaseUnreadable(`ends before its page ${id}`);
  const length = (page.readUInt32LE(12) + 1) * pageSize;
  if (length > largestPage) throw new DatabaseUnreadable(`has a page ${id} that is too long`);
  return length > pageSize ? Buffer.concat([page, await readAt((id + 1) * pageSize, length - pageSize)]) : page;
}

interface Element {
  readonly key: Buffer;
  /** Empty in a branch. */
  readonly value: Buffer;
  /** The page below; 0 in a leaf. */
  readonly child: number;
  readonly isBucket: boolean;
}

function elementAt(page: Buffer, index: number): Element {
  const start = headerBytes + index * elementBytes;
  try {
    if ((page.readUInt16LE(8) & flags.branch) !== 0) {
      const key = part(page, start + page.readUInt32LE(start), page.readUInt32LE(start + 4));
      return { key, value: Buffer.alloc(0), child: Number(page.readBigUInt64LE(start + 8)), isBucket: false };
    }
    const [at, keyBytes, valueBytes] = [4, 8, 12].map((offset) => page.readUInt32LE(start + offset));
    const key = part(page, start + (at ?? 0), keyBytes ?? 0);
    const value = part(page, start + (at ?? 0) + (keyBytes ?? 0), valueBytes ?? 0);
    return { key, value, child: 0, isBucket: (page.readUInt32LE(start) & flags.bucket) !== 0 };
  } catch (cause) {
    throw new DatabaseUnreadable('contains a page that is damaged', { cause });
  }
}

function part(page: Buffer, start: number, length: number): Buffer {
  if (start + length > page.length) throw new RangeError('outside of the page');
  return page.subarray(start, start + length);
}

function countIn(page: Buffer): number {
  const kind = page.readUInt16LE(8);
  if (kind !== flags.branch && kind !== flags.leaf) throw new DatabaseUnreadable('contains a page of an unknown kind');
  return page.readUInt16LE(10);
}

function elementsOf(page: Buffer): Element[] {
  return Array.from({ length: countIn(page) }, (_, index) => elementAt(page, index));
}

/** The description of a bucket; undefined if there is none of this name. */
function bucketIn(buckets: Buffer, name: string): Buffer | undefined {
  const found = elementsOf(buckets).find(({ key, isBucket }) => isBucket && key.toString('latin1') === name)?.value;
  return found && found.length >= headerBytes ? found : undefined;
}

/** The first page of a bucket. A small one is stored in the place of its number. */
async function rootOf(page: (id: number) => Promise<Buffer>, bucket: Buffer): Promise<Buffer> {
  const id = Number(bucket.readBigUInt64LE(0));
  if (id !== 0) return page(id);
  const inline = bucket.subarray(headerBytes);
  if (inline.length < headerBytes) throw new DatabaseUnreadable('contains a bucket that is damaged');
  return inline;
}

async function lastKey(page: (id: number) => Promise<Buffer>, root: Buffer): Promise<Buffer | undefined> {
  let current = root;
  for (let depth = 0; depth < deepestTree; depth += 1) {
    const count = countIn(current);
    if (count === 0) return undefined;
    const last = elementAt(current, count - 1);
    if (last.child === 0) return last.key;
    current = await page(last.child);
  }
  throw new DatabaseUnreadable('contains pages that refer to each other');
}
