import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';

type Digests = Record<string, string>;

/**
 * SHA-256 of files, each read once: a gigabyte of binaries would cost a second at every start. A file counts as read
 * while its inode, size and modification time are the same.
 */
export async function fileDigests(paths: readonly string[], memoryPath: string): Promise<Digests> {
  const known = await remembered(memoryPath);
  const digests: Digests = {};
  let hasNew = false;
  for (const path of paths) {
    const { ino, size, mtimeNs } = await stat(path, { bigint: true });
    const identity = `${path} ${ino} ${size} ${mtimeNs}`;
    hasNew ||= known[identity] === undefined;
    known[identity] ??= await sha256(path);
    digests[path] = known[identity];
  }
  if (hasNew) await remember(memoryPath, known);
  return digests;
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}

async function remembered(memoryPath: string): Promise<Digests> {
  const text = await readFile(memoryPath, 'utf8').catch(() => '{}');
  try {
    return JSON.parse(text) as Digests;
  } catch {
    // lost memory costs one more reading, nothing else
    return {};
  }
}

async function remember(memoryPath: string, known: Digests): Promise<void> {
  await mkdir(dirname(memoryPath), { recursive: true });
  const partial = `${memoryPath}.${process.pid}`;
  await writeFile(partial, JSON.stringify(known));
  await rename(partial, memoryPath);
}
