import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Needles, secretIn } from '../../support/output-scan.ts';
import type { FileResult } from './result.ts';

/**
 * A file on real binaries that failed in a run, and passed when it ran once more, alone. The run goes on; a release does not before
 * the cause is known: six of the first flakes were faults of the product.
 */
export interface Flake {
  readonly file: string;
  /** The last day on which it was seen. */
  readonly day: string;
  readonly commit: string;
  /** How often, on the way to its cause. */
  readonly times: number;
  /** The first line of the first failure. */
  readonly reason: string;
  /** What the failures said. */
  readonly output: string;
  /** Written by the commit that removes the cause, and names it: closes the row, which stays for the next failure of the file. */
  readonly cause?: string;
}

const repository = join(import.meta.dirname, '../../..');
const flakesFile = join(import.meta.dirname, 'flakes.json');
/** Enough for the messages of some failures, and few enough to read. */
const longestOutput = 6_000;

export function readFlakes(path = flakesFile): Flake[] {
  return JSON.parse(readFileSync(path, 'utf8')) as Flake[];
}

export function writeFlakes(flakes: readonly Flake[], path = flakesFile): void {
  writeFileSync(path, `${JSON.stringify(flakes, undefined, 2)}\n`);
}

export function openFlakes(flakes: readonly Flake[]): Flake[] {
  return flakes.filter(({ cause }) => cause === undefined);
}

/** The row of a file that failed with this result. The output holds neither secrets nor paths of the machine. */
export function flakeOf(
  { file, failures }: FileResult,
  { day, commit, needles }: { readonly day: string; readonly commit: string; readonly needles: Needles },
): Flake {
  const told = failures
    .map(({ what, reason }) => `${what}\n${withoutLibraries(reason)}`)
    .join('\n')
    .replaceAll(`${repository}/`, '');
  const secret = secretIn(told, needles);
  const output = secret === undefined ? ends(told) : `left out, because it contains ${secret}`;
  const [, first = ''] = output.split('\n');
  return { file, day, commit, times: 1, reason: secret === undefined ? first : output, output };
}

/** The rows with a flake: it opens one, or is seen once more by an open one of its file. */
export function withFlake(flakes: readonly Flake[], flake: Flake): Flake[] {
  const known = openFlakes(flakes).find(({ file }) => file === flake.file);
  if (!known) return [...flakes, flake];
  return flakes.map((each) => (each === known ? { ...flake, times: known.times + 1 } : each));
}

/** Why a tier before a release does not pass; nothing if it may. */
export function refusalOf(flakes: readonly Flake[]): string | undefined {
  const files = openFlakes(flakes).map(({ file }) => file);
  if (files.length === 0) return undefined;
  return `test/tools/run/flakes.json has open rows, of ${files.join(', ')}: find the cause of each, remove it, and name it in the row as "cause"`;
}

/** Frames of libraries say nothing of the cause, and where they are on this machine. */
function withoutLibraries(reason: string): string {
  return reason
    .split('\n')
    .filter((line) => !line.includes('/node_modules/'))
    .join('\n');
}

function ends(text: string): string {
  const half = longestOutput / 2;
  return text.length <= longestOutput ? text : `${text.slice(0, half)}\n(…)\n${text.slice(-half)}`;
}
