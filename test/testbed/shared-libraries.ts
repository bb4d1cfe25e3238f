import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { ImageEntry } from './oci.ts';
import { run } from './run.ts';

/** The libraries these programs of the host load, under the names they load them by: what an image needs beside them. */
export async function sharedLibraries(programs: readonly string[]): Promise<ImageEntry[]> {
  const libraries = new Set<string>();
  for (const program of programs) {
    for (const match of (await run(['ldd', program])).matchAll(/(\/\S+) \(0x/g)) if (match[1]) libraries.add(match[1]);
  }
  return [...libraries].map((path) => ({ kind: 'file', path, source: path }));
}

/** The plugins iptables loads by name: ldd does not know them. */
export async function xtablesPlugins(): Promise<ImageEntry[]> {
  // /lib is a link to /usr/lib on any current Debian: one of its architecture folders holds them
  for (const folder of await readdir('/usr/lib')) {
    const directory = join('/usr/lib', folder, 'xtables');
    const files = await readdir(directory).catch(() => []);
    if (files.length > 0) {
      return Promise.all(
        files.map(async (file) => {
          const path = join(directory, file);
          return { kind: 'file', path, source: await realpath(path) } satisfies ImageEntry;
        }),
      );
    }
  }
  throw new Error('no xtables plugins below /usr/lib: reinstall the package iptables');
}
