import { link, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processRecord, savedProcess } from './process-record.ts';

/**
 * Runs `work` while no other process holds the lock file; the lock of a process that was killed is taken over.
 * `onWait` is told once who holds it.
 */
export async function withLock<T>(path: string, onWait: (holder: number) => void, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  const own = `${path}.${process.pid}`;
  const record = await processRecord(process.pid);
  await writeFile(own, `${process.pid} ${record?.startTime}\n`);
  try {
    await take(own, path, onWait);
    try {
      return await work();
    } finally {
      await rm(path, { force: true });
    }
  } finally {
    await rm(own, { force: true });
  }
}

/** A hard link is made by one process only, and the file is complete from the first moment. */
async function take(own: string, path: string, onWait: (holder: number) => void): Promise<void> {
  let told = false;
  for (;;) {
    try {
      await link(own, path);
      return;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
    const holder = await savedProcess(path);
    if (!holder) {
      await rm(path, { force: true });
      continue;
    }
    if (!told) onWait(holder.pid);
    told = true;
    await sleep(200);
  }
}
