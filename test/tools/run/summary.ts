import type { FileTime } from './file-times.ts';
import type { ProcessorTime } from './processor-time.ts';

/** Files that are listed one by one; the rest is a sum. */
const listedFiles = 12;
const listedPrograms = 20;

/** A lane's times, to find what to make faster: its longest files, and their sum. */
export function laneSummary(times: readonly FileTime[]): string[] {
  const longest = [...times].sort((one, other) => other.wallSeconds - one.wallSeconds);
  const total = (key: 'wallSeconds' | 'waitedSeconds' | 'processorSeconds') =>
    Math.round(times.reduce((sum, time) => sum + time[key], 0));
  return [
    `${times.length} files took ${total('wallSeconds')} s, ${total('processorSeconds')} s of them processor time of their own, and waited ${total('waitedSeconds')} s for room`,
    ...longest.slice(0, listedFiles).map(({ file, wallSeconds, processorSeconds }) => {
      return `${column(wallSeconds)} s ${column(processorSeconds)} s of a core  ${file}`;
    }),
  ];
}

/** What the processors did during a run, by program. */
export function processorSummary({ wallSeconds, cores, busySeconds, byProgram }: ProcessorTime): string[] {
  const available = wallSeconds * cores;
  const idle = Math.round((100 * (available - busySeconds)) / available);
  return [
    `${clock(wallSeconds)} on ${cores} cores: ${Math.round(busySeconds)} core-seconds of work, ${idle} % idle`,
    ...Object.entries(byProgram)
      .slice(0, listedPrograms)
      .map(([program, seconds]) => `${column(seconds)} core-seconds  ${program}`),
  ];
}

/** Formats as `21 min 40 s`. */
export function clock(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

function column(seconds: number): string {
  return String(Math.round(seconds)).padStart(5);
}
