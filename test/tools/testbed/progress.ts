import { appendFileSync, mkdirSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lastLines } from './run.ts';

/** The sink of progress lines. */
export type Report = (line: string) => void;

/** Runs one step and reports its name with its duration. */
export async function step<T>(report: Report, name: string, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  const result = await work();
  report(`${seconds(start)}  ${name}`);
  return result;
}

/** Time since a `performance.now()`, as a column of a report. */
export function seconds(start: number, now = performance.now()): string {
  return `${((now - start) / 1000).toFixed(2).padStart(7)} s`;
}

/** Sends every line to stderr, because stdout is for answers, and to a log file. */
export function reportTo(logFile: string, terminal: NodeJS.WritableStream): Report {
  mkdirSync(dirname(logFile), { recursive: true });
  return (line) => {
    terminal.write(`${line}\n`);
    appendFileSync(logFile, `${new Date().toISOString()} ${line}\n`);
  };
}

/** What to wait for, how long, and the log that explains a failure. */
export interface Expectation {
  readonly what: string;
  readonly timeoutMs: number;
  /** Minimum time between two probes, 50 ms by default; longer if a probe or the wait takes long. */
  readonly intervalMs?: number;
  readonly log?: string | undefined;
}

/** A wait lasts this many times its limit at most, however its log grows: a program that restarts for ever writes for ever. */
const mostLimits = 10;

/**
 * Probes until the answer is not undefined or false. Throws with the last failure and the end of the log. Each line of the log starts the
 * limit again: what goes on does not hang, even on a machine with ten times its usual load.
 */
export async function until<T>(expectation: Expectation, probe: () => Promise<T | false | undefined>): Promise<T> {
  const start = performance.now();
  let [changed, size] = [start, await sizeOf(expectation.log)];
  let cause: unknown;
  for (;;) {
    const begun = performance.now();
    try {
      const answer = await probe();
      if (answer !== undefined && answer !== false) return answer;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    const now = await sizeOf(expectation.log);
    if (now !== size) [changed, size] = [performance.now(), now];
    const limit = Math.min(changed + expectation.timeoutMs, start + mostLimits * expectation.timeoutMs);
    if (performance.now() >= limit) break;
    await sleep(pauseMs({ shortestMs: expectation.intervalMs ?? 50, start, begun }));
  }
  const why = cause instanceof Error ? `: ${cause.message}` : '';
  const log = expectation.log ? `\n${expectation.log} ends with\n${await endOf(expectation.log)}` : '';
  throw new Error(`${expectation.what}: not within ${expectation.timeoutMs / 1000} s${why}${log}`, { cause });
}

/** Longest pause between two probes because of a long wait. */
const longestMs = 1_000;

/** Longest pause because of a long probe: one that itself waited for an answer in vain is not followed by a longer wait. */
const longestAfterProbeMs = 5_000;

/**
 * Milliseconds to pause after a probe that began at `begun`, in a wait that began at `start`. The pause grows with the wait,
 * to a twentieth of it, and with the cost of a probe, such as one by kubectl: waiting takes a fifth of a core.
 */
export function pauseMs(
  wait: { readonly shortestMs: number; readonly start: number; readonly begun: number },
  now = performance.now(),
): number {
  const byWait = Math.min(longestMs, (now - wait.start) / 20);
  const byProbe = Math.min(longestAfterProbeMs, 4 * (now - wait.begun));
  return Math.max(wait.shortestMs, byWait, byProbe);
}

async function sizeOf(log: string | undefined): Promise<number> {
  return log === undefined
    ? 0
    : stat(log)
        .then(({ size }) => size)
        .catch(() => 0);
}

async function endOf(log: string): Promise<string> {
  return lastLines(await readFile(log, 'utf8').catch(() => '(no such file)'), 15);
}
