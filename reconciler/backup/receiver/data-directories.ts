import { access, mkdir, open, readdir, rm, rename } from 'node:fs/promises';
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

/**
 * Puts the restored data directory in place for etcd, and keeps the previous one. It can be interrupted between any two
 * steps and started again, because the volume shows which steps are done. No etcd may run on the volume.
 * @throws when there is neither restored data nor a sign that it is in place already
 */
export async function swap(volume: string, run: string): Promise<void> {
  const paths = restorePaths(volume, run);
  if (await exists(paths.restoredData)) {
    await makeDirectory(paths.setAside);
    await setAside(paths.data, `${paths.setAside}/data`);
    await rename(paths.restoredData, paths.data);
    await syncDirectory(volume);
  } else if (!(await exists(paths.setAside)) || !(await exists(paths.data))) {
    throw new Error(`there is no restored data in ${paths.restoredData}: run the restore of the snapshot first`);
  }
  await rm(paths.incoming, { recursive: true, force: true });
  await rm(incomingFolder(volume), { recursive: true, force: true });
  await removeOldest(volume);
}

/** If this run has already set data aside, it has also put the other data in place, and no etcd has run on it. */
async function setAside(data: string, kept: string): Promise<void> {
  if (!(await exists(data))) return;
  if (await exists(kept)) return rm(data, { recursive: true });
  await rename(data, kept);
  await syncDirectory(dirname(kept));
}
