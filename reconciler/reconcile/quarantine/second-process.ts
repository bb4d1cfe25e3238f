import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';

/** A process that works on one control plane. */
export interface SecondProcess {
  /** Whether it has done its work, and ended when it was asked to. Never rejects. */
  readonly ended: Promise<boolean>;
  stop(): void;
}

/** Starts a process for a control plane, and the Cluster that it is of. */
export type StartSecondProcess = (key: string, cluster: string) => SecondProcess;

/** An operator of two control planes has a heap of 40 MiB. */
const heapMebibytes = 128;
/** With what it has outside of its heap; together with the operator's own it is below the limit of the container. */
const mostBytes = 384 * 1024 * 1024;
const lookMs = 250;
/** After its first reconcile: enough for several rounds of everything but a large backup. */
const secondProcessMs = 60_000;
/** Until its first reconcile. */
const beginsInMs = 60_000;
/** From the signal to its end: longer than the longest request. */
const graceMs = 40_000;

/**
 * Runs this program again, for one control plane alone, and so long after its first reconcile. It ends with this process, because it loses
 * its channel.
 */
export function startSecondProcess(key: string, cluster: string, lastsMs = secondProcessMs): SecondProcess {
  const [, program = '', ...given] = process.argv;
  const flags = [...process.execArgv, `--max-old-space-size=${heapMebibytes}`];
  const args = [...flags, program, ...given, `--only=${key}/${cluster}`];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  let hasReconciled = false;
  const kill = () => void child.kill('SIGKILL');
  let deadline = setTimeout(kill, beginsInMs);
  child.on('message', (result) => {
    if (result !== 'success' || hasReconciled) return;
    hasReconciled = true;
    clearTimeout(deadline);
    deadline = setTimeout(() => {
      child.kill('SIGTERM');
      deadline = setTimeout(kill, graceMs);
    }, lastsMs);
  });
  const looks = setInterval(() => void endLargeOne(child), lookMs);
  const ended = new Promise<boolean>((resolve) => {
    child.once('exit', (code) => resolve(code === 0 && hasReconciled));
    child.once('error', () => resolve(false));
  }).finally(() => {
    clearTimeout(deadline);
    clearInterval(looks);
  });
  return { ended, stop: kill };
}

/** Buffers are not part of the heap, and the limit of the container would end all of its processes. */
async function endLargeOne(child: ChildProcess): Promise<void> {
  const [, pages = 0] = (await readFile(`/proc/${child.pid}/statm`, 'utf8').catch(() => '')).split(' ').map(Number);
  if (pages * pageBytes > mostBytes) child.kill('SIGKILL');
}

/** On every node that the operator's image is for, but for ARM with large pages, where its processes are larger, too. */
const pageBytes = 4096;
