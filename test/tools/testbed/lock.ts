import { link, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processRecord, savedProcess } from './process-record.ts';

/** How many calls this process has made. */
let calls = 0;

/**
 * Runs `work` while no other call, of any process, holds the lock file; the lock of a killed process is taken over.
 * `onWait` is called once with the holder.
 */
export async function withLock<T>(path: string, onWait: (holder: number) => void, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  // For each call another one: a file that holds the lock is the lock file itself, and another call would empty it to write its own.
  const own = `${path}.${process.pid}-${++calls}`;
  try {
    await take(own, path, onWait);
    try {
      await removeDead(path);
      return await work();
    } finally {
      await rm(path, { force: true });
    }
  } finally {
    await rm(own, { force: true });
  }
}

/** Only one process can create a hard link, and the file is complete from the first moment. */
async function take(own: string, path: string, onWait: (holder: number) => void): Promise<void> {
  let reported = false;
  const record = await processRecord(process.pid);
  for (;;) {
    await writeFile(own, `${process.pid} ${record?.startTime}\n`);
    try {
      await link(own, path);
      return;
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      // ENOENT: half written, it was mistaken for that of a dead process and removed
      if (code === 'ENOENT') continue;
      if (code !== 'EEXIST') throw error;
    }
    const holder = await savedProcess(path);
    if (!holder) {
      await rm(path, { force: true });
      continue;
    }
    if (!reported) onWait(holder.pid);
    reported = true;
    await sleep(200);
  }
}

/** Removes the files of processes that were killed while they waited or worked. */
async function removeDead(path: string): Promise<void> {
  for (const name of await readdir(dirname(path))) {
    const candidate = join(dirname(path), name);
    if (name.startsWith(`${basename(path)}.`) && !(await savedProcess(candidate))) await rm(candidate, { force: true });
  }
}
