import { readFile } from 'node:fs/promises';

/**
 * Bytes of resident memory of a process: at present (`VmRSS`), or the peak (`VmHWM`) since its start or since the counter
 * was reset.
 */
export async function processMemory(pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
}
