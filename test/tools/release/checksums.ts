import { readdir } from 'node:fs/promises';
import { fileDigest } from '../testbed/file-digest.ts';
import { join, relative } from 'node:path';

/** The file that `sha256sum --check` reads. */
export const checksumsFile = 'SHA256SUMS';

/** SHA-256 of all files in a folder by their paths there, sorted, apart from the list itself. */
export async function fileChecksums(folder: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile() && entry.name !== checksumsFile)
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
  const checksums = new Map<string, string>();
  for (const name of names) checksums.set(name, await fileDigest(join(folder, name)));
  return checksums;
}
