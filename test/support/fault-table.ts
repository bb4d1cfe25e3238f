import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { blockIn, markdownTable, withBlock } from './readme-block.ts';

/** One fault that a test has caused for real, and what came of it. */
export interface Fault {
  /** What was done, such as `kill -9 of the leader of three members`; the row is known by it. */
  readonly fault: string;
  /** What users and administrators see meanwhile: conditions, refusals, what keeps serving. */
  readonly observed: string;
  /**
   * From the fault until everything works again, as measured; undefined if nothing stopped working, and `never` if
   * recovery waits for an administrator's decision.
   */
  readonly recoverySeconds: number | 'never' | undefined;
  /** `none` if every acknowledged write was found again; otherwise exactly what is gone, and why that was accepted. */
  readonly dataLost: string;
}

/** The page with the table of faults. `npm run faults` writes it: it comes from tests and not from the sources. */
export const faultsPage = 'test/FAULTS.md';

/** Where faults wait to be rendered; ignored by git. Not in build/, all of which goes into the operator's image. */
export const faultsDirectory = join(import.meta.dirname, '../../.faults');

/** Keeps a fault for the table in test/FAULTS.md. Call it after the assertions; a later run of the test replaces its row. */
export async function recordFault(fault: Fault, directory = faultsDirectory): Promise<void> {
  await mkdir(directory, { recursive: true });
  const path = join(directory, `${slugOf(fault.fault)}.json`);
  // A test that is killed while it writes must not leave half a row.
  await writeFile(`${path}.${process.pid}`, `${JSON.stringify(fault)}\n`);
  await rename(`${path}.${process.pid}`, path);
}

/** Every fault that was recorded, in the order of their names. */
export async function recordedFaults(directory = faultsDirectory): Promise<Fault[]> {
  const files = await readdir(directory).catch(() => []);
  const rows = files.filter((file) => file.endsWith('.json')).map((file) => readFile(join(directory, file), 'utf8'));
  const faults = (await Promise.all(rows)).map((row) => JSON.parse(row) as Fault);
  return faults.sort((a, b) => a.fault.localeCompare(b.fault, 'en'));
}

/**
 * The text with these faults in its table, each in the place of its older row. Rows of other runs stay, such as those of
 * soak tests; a row whose test is gone is removed by hand.
 * @throws without the markers of the table
 */
export function withFaults(text: string, faults: readonly Fault[]): string {
  const rows = new Map(rowsIn(blockIn(text, 'faults')));
  for (const { fault, observed, recoverySeconds, dataLost } of faults) {
    const row = markdownTable([[fault, observed, durationOf(recoverySeconds), dataLost]]).split('\n')[0] ?? '';
    rows.set(faultOf(row), row);
  }
  const inOrder = [...rows].sort(([one], [other]) => one.localeCompare(other, 'en')).map(([, row]) => `${row}\n`);
  return withBlock(text, 'faults', [markdownTable([heading]), ...inOrder].join(''));
}

const heading = ['fault', 'what is seen', 'time to recover', 'data lost'];

/** Rows of a table that was written here, by their faults. */
function rowsIn(table: string): [string, string][] {
  const [, , ...rows] = table.split('\n').filter((line) => line.startsWith('| '));
  return rows.map((row) => [faultOf(row), row]);
}

/** The first cell of a row. */
function faultOf(row: string): string {
  return row.split(/(?<!\\)\|/)[1]?.trim() ?? '';
}

function slugOf(fault: string): string {
  return fault
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 120);
}

function durationOf(seconds: Fault['recoverySeconds']): string {
  if (seconds === 'never') return 'waits for an administrator';
  if (seconds === undefined) return 'nothing stopped';
  return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
}
