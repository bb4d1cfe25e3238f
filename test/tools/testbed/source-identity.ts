import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** What images are made of: the product, how it is bundled and packed, and the versions of its libraries and of Node. */
const sources = ['constructs', 'imports', 'reconciler', 'test/tools/testbed', 'package.json', 'package-lock.json'];

/**
 * Changes when a file may have changed of which the images of a checkout are made: its inode, size or modification time. Reading the
 * files would take longer, and bundling them does.
 * @param root of the checkout
 */
export async function sourceIdentity(root: string): Promise<string> {
  const hash = createHash('sha256');
  for (const source of sources) for (const file of await filesBelow(join(root, source))) hash.update(`${file}\n`);
  return hash.digest('hex');
}

async function filesBelow(path: string): Promise<string[]> {
  const found = await stat(path, { bigint: true });
  if (!found.isDirectory()) return [`${path} ${found.ino} ${found.size} ${found.mtimeNs}`];
  const below = await Promise.all((await readdir(path)).sort().map((name) => filesBelow(join(path, name))));
  return below.flat();
}
