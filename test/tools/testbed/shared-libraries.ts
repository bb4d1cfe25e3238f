import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { ImageEntry } from './oci.ts';
import { run } from './run.ts';

/**
 * The libraries of these programs, under the names they load them by, for an image. Those that are
 * not the host's are looked up below `root`, where packages are unpacked.
 */
export async function sharedLibraries(programs: readonly string[], root = '/'): Promise<ImageEntry[]> {
  const folders = await readdir(join(root, 'usr/lib'));
  const LD_LIBRARY_PATH = folders.map((folder) => join(root, 'usr/lib', folder)).join(':');
  const env = root === '/' ? process.env : { ...process.env, LD_LIBRARY_PATH };
  const libraries = new Set<string>();
  for (const program of programs) {
    const answer = await run(['ldd', program], { env });
    for (const match of answer.matchAll(/(\/\S+) \(0x/g)) if (match[1]) libraries.add(match[1]);
  }
  return [...libraries].map((source) => ({ kind: 'file', path: source.replace(join(root, '/'), '/'), source }));
}

/** The plugins that iptables loads by name: ldd does not list them. */
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
