import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { incomingFolder, restorePaths } from '../../../constructs/control-plane/etcd/volume.ts';
import { exists, makeDirectory, removeOldest, syncDirectory } from './directories.ts';

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
