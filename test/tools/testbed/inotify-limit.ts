import { access, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { baselineName } from './leftovers.ts';
import type { Instance } from './instance.ts';

const limitPath = '/proc/sys/fs/inotify/max_user_instances';

/** The default of 128 is shared by every process of root: the kubelets, shims and proxies of two nodes exhaust it. */
const needed = 1024;

/** Raises the host's number of inotify instances if it is too small, and records the old value. */
export async function raiseInotifyLimit(instance: Instance): Promise<void> {
  const limit = (await readFile(limitPath, 'utf8')).trim();
  if (Number(limit) >= needed) return;
  // an instance that came up at the same time has recorded the smaller value already
  await writeFile(notePath(instance), limit, { flag: 'wx' }).catch(() => {});
  await writeFile(limitPath, String(needed));
}

/** Restores the limit when no other instance is left that may need it. */
export async function restoreInotifyLimit(instance: Instance): Promise<void> {
  const others = (await readdir(dirname(instance.directory))).filter(
    (name) => join(dirname(instance.directory), name) !== instance.directory,
  );
  const up = await Promise.all(others.map((name) => exists(join(dirname(instance.directory), name, baselineName))));
  if (up.includes(true)) return;
  const before = await readFile(notePath(instance), 'utf8').catch(() => undefined);
  if (before === undefined) return;
  await writeFile(limitPath, before);
  await rm(notePath(instance), { force: true });
}

function notePath({ directory }: Instance): string {
  return join(dirname(directory), 'inotify-limit-before');
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
