import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Where the host has its cgroup hierarchies: one for each controller with version 1, a single one with version 2. */
export async function cgroupRoots(): Promise<string[]> {
  const mounts = (await readFile('/proc/mounts', 'utf8')).split('\n').map((line) => line.split(' '));
  return mounts.flatMap(([, path, type]) => (path && (type === 'cgroup' || type === 'cgroup2') ? [path] : []));
}

/** Creates a cgroup in every hierarchy. */
export async function makeCgroup(name: string): Promise<void> {
  for (const root of await cgroupRoots()) {
    const directory = join(root, name);
    await mkdir(directory, { recursive: true });
    // a new version 1 cpuset has no processors, and no process may enter it then
    for (const file of ['cpuset.cpus', 'cpuset.mems']) {
      const value = await readFile(join(root, file), 'utf8').catch(() => '');
      if (value.trim()) await writeFile(join(directory, file), value);
    }
  }
}

/** Removes a cgroup and all below it in every hierarchy; returns the directories that still exist after a minute. */
export async function removeCgroup(name: string): Promise<string[]> {
  const directories = (await cgroupRoots()).map((root) => join(root, name));
  let left = directories;
  // the cgroup of a killed container is busy until the kernel has removed its last process
  for (let waitedMs = 0; waitedMs < 60_000; waitedMs += 20) {
    const removed = await Promise.all(left.map(removeTree));
    left = left.filter((_, index) => !removed[index]);
    if (left.length === 0) break;
    await sleep(20);
  }
  return left;
}

async function removeTree(directory: string): Promise<boolean> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => undefined);
  if (!entries) return true;
  for (const entry of entries) if (entry.isDirectory()) await removeTree(join(directory, entry.name));
  return rmdir(directory).then(
    () => true,
    () => false,
  );
}
