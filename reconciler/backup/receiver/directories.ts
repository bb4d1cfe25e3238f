import { access, mkdir, open, readdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { incomingFolder, restorePaths, setAsideFolder } from '../../../constructs/control-plane/etcd/volume.ts';

/** Whether a path exists. */
export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Syncs a directory, so that renames and new entries survive a power failure. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Creates a directory and its parents, and syncs the parent. */
export async function makeDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  await syncDirectory(dirname(path));
}

/** Sorted names of the entries of a directory; none if it does not exist. */
export async function namesIn(path: string): Promise<string[]> {
  const names = await readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.sort((one, other) => (one < other ? -1 : 1));
}

/** Number of previous data directories that are kept: one more than the last, in case the wrong backup was chosen. */
const setAsideCount = 2;

/** Removes data that earlier restores have set aside, except for the newest `keep`. */
export async function removeOldest(volume: string, keep = setAsideCount): Promise<void> {
  const runs = await namesIn(setAsideFolder(volume));
  for (const run of runs.slice(0, Math.max(0, runs.length - keep))) {
    await rm(restorePaths(volume, run).setAside, { recursive: true, force: true });
  }
}

/** Removes the files of runs that did not end. */
export async function removeOtherRuns(volume: string, run: string): Promise<void> {
  for (const other of await namesIn(incomingFolder(volume))) {
    if (other !== run) await rm(restorePaths(volume, other).incoming, { recursive: true, force: true });
  }
}
