import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';

/**
 * SHA-256 of files, each read once: a gigabyte of binaries would cost a second at every start. A file counts as unchanged
 * while its inode, size and modification time are the same.
 */
export async function fileDigests(paths: readonly string[], memoryPath: string): Promise<Map<string, string>> {
  const known = await remembered(memoryPath);
  const digests = new Map<string, string>();
  let hasNew = false;
  for (const path of paths) {
    const { ino, size, mtimeNs } = await stat(path, { bigint: true });
    const identity = `${path} ${ino} ${size} ${mtimeNs}`;
    hasNew ||= !known.has(identity);
    const digest = known.get(identity) ?? (await fileDigest(path));
    known.set(identity, digest);
    digests.set(path, digest);
  }
  if (hasNew) await remember(memoryPath, known);
  return digests;
}

/** SHA-256 of a file, in hexadecimal digits. */
export async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}

/** One file per line: its digest, then its path and attributes. A lost cache costs another read, nothing else. */
async function remembered(memoryPath: string): Promise<Map<string, string>> {
  const lines = (await readFile(memoryPath, 'utf8').catch(() => '')).split('\n');
  return new Map(lines.filter(Boolean).map((line) => [line.slice(65), line.slice(0, 64)]));
}

async function remember(memoryPath: string, known: ReadonlyMap<string, string>): Promise<void> {
  await mkdir(dirname(memoryPath), { recursive: true });
  const partial = `${memoryPath}.${process.pid}`;
  await writeFile(partial, [...known].map(([identity, digest]) => `${digest} ${identity}\n`).join(''));
  await rename(partial, memoryPath);
}
