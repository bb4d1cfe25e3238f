import { access, mkdir, open, readdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { incomingFolder, restorePaths, setAsideFolder } from '../../constructs/control-plane/etcd/volume.ts';

/** Whether there is something of this name. */
export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Makes renames and new entries of a directory outlive a power failure. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Makes a directory and its parents, for good. */
export async function makeDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  await syncDirectory(dirname(path));
}

/** Names of what lies in a directory, in order; none when there is no such directory. */
export async function namesIn(path: string): Promise<string[]> {
  const names = await readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.sort((one, other) => (one < other ? -1 : 1));
}

/** Data directories that are kept beside the one in use: one more than the last, in case the wrong backup was chosen. */
const setAsideCount = 2;

/** Removes the data that the oldest restores have set aside, except for the newest two. */
export async function removeOldest(volume: string, keep = setAsideCount): Promise<void> {
  const runs = await namesIn(setAsideFolder(volume));
  for (const run of runs.slice(0, Math.max(0, runs.length - keep))) {
    await rm(restorePaths(volume, run).setAside, { recursive: true, force: true });
  }
}

/** Removes what runs that never ended have left. */
export async function removeOtherRuns(volume: string, run: string): Promise<void> {
  for (const other of await namesIn(incomingFolder(volume))) {
    if (other !== run) await rm(restorePaths(volume, other).incoming, { recursive: true, force: true });
  }
}
