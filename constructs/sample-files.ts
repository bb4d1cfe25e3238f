import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SampleFile } from './distribution.ts';

const samples = join(import.meta.dirname, '../test/clusters');

/**
 * The YAML files of a folder, in the order of their names; by default the sample clusters of this repository.
 * @throws when there are none
 */
export async function readSampleFiles(directory: string = samples): Promise<SampleFile[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.yaml')).sort();
  if (files.length === 0)
    throw new Error(`${directory} has no .yaml files: add one with a Cluster and its HostedControlPlane`);
  return Promise.all(
    files.map(async (file) => ({
      name: file.replace(/\.yaml$/, ''),
      content: await readFile(join(directory, file), 'utf8'),
    })),
  );
}
