import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { incomingFolder, restorePaths } from '../../constructs/control-plane/etcd/volume.ts';
import { exists, makeDirectory, removeOldest, syncDirectory } from './directories.ts';

/**
 * Puts the restored data directory where etcd looks for it and keeps the one that was there. It can be killed between
 * any two steps and begun again: each step shows on the volume whether it was done. No etcd may run on the volume.
 * @throws when there is neither restored data nor a sign that it was put there already
 */
export async function swap(volume: string, run: string): Promise<void> {
  const paths = restorePaths(volume, run);
  if (await exists(paths.restoredData)) {
    await makeDirectory(paths.setAside);
    await setAside(paths.data, `${paths.setAside}/data`);
    await rename(paths.restoredData, paths.data);
    await syncDirectory(volume);
  } else if (!(await exists(paths.setAside)) || !(await exists(paths.data))) {
    throw new Error(`there is no restored data in ${paths.restoredData}: let the restore of the snapshot run first`);
  }
  await rm(paths.incoming, { recursive: true, force: true });
  await rm(incomingFolder(volume), { recursive: true, force: true });
  await removeOldest(volume);
}

/** Data that is there beside data set aside by this very run was put there by it too, and no etcd has run on it. */
async function setAside(data: string, kept: string): Promise<void> {
  if (!(await exists(data))) return;
  if (await exists(kept)) return rm(data, { recursive: true });
  await rename(data, kept);
  await syncDirectory(dirname(kept));
}
