import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, createWriteStream, openSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import { startGroupWatcher } from '../../support/group-watcher.ts';
import { goEnvironment } from '../testbed/go-environment.ts';
import { sendSignal } from '../testbed/process-record.ts';
import { reportVariable } from './file-reporter.ts';
import type { Project } from './files.ts';

const repository = join(import.meta.dirname, '../../..');
/** Path of the program that runs tests. */
export const vitest = join(repository, 'node_modules/vitest/vitest.mjs');
const config = ['--config', join(repository, 'test/vitest.config.ts')];
const reporters = ['default', join(import.meta.dirname, 'file-reporter.ts')].map(
  (reporter) => `--reporter=${reporter}`,
);

/** The lane of processes that run tests, if lanes run side by side. */
const laneVariable = 'HCP_TEST_LANE';

/** Names the families of binaries that a lane's global set-up compiles before the first file. */
const familiesVariable = 'HCP_TEST_FAMILIES';

/** The families that a lane wants before its first file, which has no time to wait for compilers; none outside of any lane. */
export function familiesFor(env: NodeJS.ProcessEnv): readonly string[] {
  return (env[familiesVariable] ?? '').split(',').filter(Boolean);
}

/** Number of the lane that this process belongs to; 0 outside of any. */
export function laneOf(env: NodeJS.ProcessEnv): number {
  return Number(env[laneVariable] ?? 0);
}

/** How the files of a lane share the machine: set by {@link runLane}. */
const roomVariable = 'HCP_TEST_ROOM';

/** Whether a file waits until the processors have room for it, or begins at once and only counts for those that wait. */
export type Room = 'waits' | 'counts';

/** How a file that this process runs shares the machine; undefined where it does not matter. */
export function roomFor(env: NodeJS.ProcessEnv): Room | undefined {
  const room = env[roomVariable];
  return room === 'waits' || room === 'counts' ? room : undefined;
}

/** A run of vitest beside others. */
export interface Lane {
  /** The prefix of its lines, and the name of its output files. */
  readonly name: string;
  /** What it runs. */
  readonly projects: readonly Project[];
  /** Those of their files that it runs. */
  readonly files: readonly string[];
  /** These are all: it runs without a list. */
  readonly isWhole?: boolean;
  /** The testbed that only this lane uses, if it needs one. */
  readonly testbed?: string;
  /** How its files share the machine with those of other lanes; unset for a lane that runs alone. */
  readonly room?: Room;
}

/** Runs vitest, writes its output to one file and its report to another, and returns its exit code. */
export function runQuietly(
  args: readonly string[],
  { log, report, env }: { readonly log: string; readonly report: string; readonly env: NodeJS.ProcessEnv },
): Promise<number> {
  const kept = openSync(log, 'w');
  const child = spawn(process.execPath, [vitest, 'run', ...config, ...reporters, ...args], {
    stdio: ['ignore', kept, kept],
    // a test that starts this has begun already: its own files neither wait for room nor count again
    env: { ...process.env, ...env, [roomVariable]: undefined, [reportVariable]: report },
  });
  closeSync(kept);
  return ended(child);
}

/** How a lane runs. */
export interface LaneRun {
  /** Its number among those side by side. */
  readonly index: number;
  /** The directory of its log and its report. */
  readonly output: string;
  /** Names of the families of binaries that are compiled before its first file. */
  readonly families: readonly string[];
  /** Ends it. */
  readonly signal?: AbortSignal | undefined;
}

/** Runs a lane and returns its exit code. */
export function runLane(
  { name, projects, files, isWhole = false, testbed, room }: Lane,
  { index, output, families, signal }: LaneRun,
): Promise<number> {
  const env = {
    ...goEnvironment,
    ...(testbed === undefined ? {} : { HCP_TESTBED: testbed }),
    ...(room ? { [roomVariable]: room } : {}),
    [laneVariable]: String(index),
    [familiesVariable]: families.join(','),
  };
  const args = [...projects.map((each) => `--project=${each}`), ...(isWhole ? [] : files)];
  return runGroup(args, { name, prefix: `${name.padEnd(5)} | `, output, env, signal });
}

/** Runs vitest with arguments of a command line, and returns its exit code. Its log and report are those of a lane with this name. */
export function runNamed(
  name: string,
  args: readonly string[],
  { output, signal }: Pick<LaneRun, 'output' | 'signal'>,
): Promise<number> {
  return runGroup(args, { name, prefix: '', output, env: {}, signal });
}

interface Group extends Pick<LaneRun, 'output' | 'signal'> {
  readonly name: string;
  /** Of each line in the terminal. */
  readonly prefix: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Runs vitest in a process group of its own, which ends with this process. */
async function runGroup(args: readonly string[], { name, prefix, output, env, signal }: Group): Promise<number> {
  const watch = startGroupWatcher();
  const child = spawn(process.execPath, [vitest, 'run', ...config, ...reporters, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: {
      ...process.env,
      ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}),
      ...env,
      [reportVariable]: reportFile(name, output),
    },
  });
  watch(child);
  endOnAbort(child, signal);
  const kept = createWriteStream(join(output, `${name}.log`), { flags: 'a' });
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      console.log(`${prefix}${line}`);
      kept.write(`${line}\n`);
    });
  }
  const code = await ended(child);
  // what follows searches the log
  await finished(kept.end());
  return code;
}

/** Long enough for vitest to end, which waits for nothing. */
const longestEndMs = 30_000;

/** Ends the process group of a program when the signal comes: first with SIGTERM, and what still runs some time later with SIGKILL. */
export function endOnAbort(child: ChildProcess, signal: AbortSignal | undefined, patienceMs = longestEndMs): void {
  if (!signal) return;
  const { pid } = child;
  let timer: NodeJS.Timeout | undefined;
  const kill = () => {
    if (pid !== undefined) sendSignal(-pid, 'SIGKILL');
    // a process that has left the group may hold them, and is removed with its testbed
    child.stdout?.destroy();
    child.stderr?.destroy();
  };
  const end = () => {
    if (pid !== undefined) sendSignal(-pid, 'SIGTERM');
    timer = setTimeout(kill, patienceMs);
  };
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  child.once('close', () => {
    signal.removeEventListener('abort', end);
    clearTimeout(timer);
    // others of the group may still run
    if (signal.aborted) kill();
  });
}

/** Aborted by a signal that asks this process to end. None ends it from now on: it ends what it has started, and then itself. */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => controller.abort());
  return controller.signal;
}

function ended(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

/** Path of the report of a lane. */
export function reportFile(name: string, output: string): string {
  return join(output, `${name}.json`);
}
