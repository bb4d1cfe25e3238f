import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Instance } from './instance.ts';
import { savedProcess, saveProcess } from './process-record.ts';

/** Records that this process uses a testbed that others may use as well. */
export async function joinUsers(instance: Instance): Promise<void> {
  await mkdir(usersDirectory(instance), { recursive: true });
  await saveProcess(join(usersDirectory(instance), String(process.pid)), process.pid);
}

/** Records that it does not any more; true if it was the last one. A killed process is no user. */
export async function leaveUsers(instance: Instance): Promise<boolean> {
  const directory = usersDirectory(instance);
  await rm(join(directory, String(process.pid)), { force: true });
  if (await hasUsers(instance)) return false;
  await rm(directory, { recursive: true, force: true });
  return true;
}

/** Whether a running process has recorded that it uses a testbed. */
export async function hasUsers(instance: Instance): Promise<boolean> {
  const directory = usersDirectory(instance);
  for (const name of await readdir(directory).catch(() => [])) {
    if (await savedProcess(join(directory, name))) return true;
  }
  return false;
}

function usersDirectory(instance: Instance): string {
  return `${instance.directory}.users`;
}
