import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SampleFile } from './distribution.ts';

const directory = join(import.meta.dirname, '../test/clusters');

/** The sample clusters of this repository, in the order of their names. */
export async function readSampleFiles(): Promise<SampleFile[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.yaml')).sort();
  return Promise.all(
    files.map(async (file) => ({
      name: file.replace(/\.yaml$/, ''),
      content: await readFile(join(directory, file), 'utf8'),
    })),
  );
}
