import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * A process of the testbed that outlives the command that started it. The kernel reuses pids, so the
 * process is identified by its pid and its start time (clock ticks since boot).
 */
export interface ProcessRecord {
  readonly pid: number;
  readonly startTime: string;
}

/** What the kernel reports about a pid now; undefined if no such process runs (a zombie does not). */
export async function processRecord(pid: number): Promise<ProcessRecord | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // the command name, field 2, may contain spaces and parentheses: count from the end
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, startTime] = [fields[0], fields[19]];
    return state === 'Z' || state === 'X' || startTime === undefined ? undefined : { pid, startTime };
  } catch {
    return undefined;
  }
}

/** Writes the record of a running process to a file, in one step. */
export async function saveProcess(path: string, pid: number): Promise<ProcessRecord> {
  const record = await processRecord(pid);
  if (!record) throw new Error(`process ${pid} of ${path} ended at once`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.new`, `${record.pid} ${record.startTime}\n`);
  await rename(`${path}.new`, path);
  return record;
}

/** The process that a file names, if that very process still runs. */
export async function savedProcess(path: string): Promise<ProcessRecord | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const [pid, startTime] = text.trim().split(' ');
  const record = pid ? await processRecord(Number(pid)) : undefined;
  return record?.startTime === startTime ? record : undefined;
}

/** Kills the process that a file names, waits until it is gone and removes the file. Nothing happens if it no longer runs. */
export async function killSaved(path: string, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  const record = await savedProcess(path);
  if (record) {
    sendSignal(record.pid, signal);
    await processEnd(record);
  }
  await rm(path, { force: true });
}

/** Resolves when the process is gone; kills it if it still runs after 5 s. */
async function processEnd(record: ProcessRecord): Promise<void> {
  for (let waitedMs = 0; (await processRecord(record.pid))?.startTime === record.startTime; waitedMs += 10) {
    if (waitedMs === 5_000) sendSignal(record.pid, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Sends a signal to a process that may have ended meanwhile. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
