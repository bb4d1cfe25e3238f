import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Durations } from './file-times.ts';
import { projectOf, tierOf } from './files.ts';
import type { FileResult, RunResult } from './result.ts';

/**
 * Which full and soak files are known to pass for what is in the repository now. `npm test` runs none of them: each is run
 * when something has changed that it proves, and the ledger remembers for what content it was green.
 */
export type Ledger = Readonly<Record<string, Row>>;

/** One file of the ledger. */
export interface Row {
  /** Files and folders on whose change the file is stale: what it proves, the modules that it pins, and its own support. */
  readonly proves: readonly string[];
  /** Of the content of these and of the test file, when it was last green; empty if it never was. */
  readonly hash: string;
  /** The day of that, such as `2026-11-28`. */
  readonly green: string;
}

const repository = join(import.meta.dirname, '../../..');
const ledgerFile = join(import.meta.dirname, 'ledger.json');

export function readLedger(path = ledgerFile): Ledger {
  return JSON.parse(readFileSync(path, 'utf8')) as Ledger;
}

/** Writes the rows by name, in the form of the formatter. */
export function writeLedger(ledger: Ledger, path = ledgerFile): void {
  const rows = Object.keys(ledger)
    .sort()
    .flatMap((file) => {
      const row = ledger[file];
      return row ? [`  ${JSON.stringify(file)}: ${formatRow(row)}`] : [];
    });
  writeFileSync(path, `{\n${rows.join(',\n')}\n}\n`);
}

const longestLine = 120;

function formatRow({ proves, hash, green }: Row): string {
  const names = proves.map((name) => JSON.stringify(name));
  const line = `    "proves": [${names.join(', ')}],`;
  const list = line.length <= longestLine ? line : `    "proves": [\n      ${names.join(',\n      ')}\n    ],`;
  return `{\n${list}\n    "hash": ${JSON.stringify(hash)},\n    "green": ${JSON.stringify(green)}\n  }`;
}

/** The hash of a test file and of what it proves. A page in a folder does not count: no test of real binaries reads it. */
export function contentHash(file: string, proves: readonly string[], root = repository): string {
  const hash = createHash('sha256');
  for (const name of [file, ...proves].flatMap((each) => filesIn(each, root))) {
    hash
      .update(`${name}\0`)
      .update(readFileSync(join(root, name)))
      .update('\0');
  }
  return hash.digest('hex').slice(0, 16);
}

function filesIn(name: string, root: string): string[] {
  const path = join(root, name);
  if (!statSync(path).isDirectory()) return [name];
  const entries = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const below = entries.map(({ parentPath, name: own }) => join(name, parentPath.slice(path.length), own));
  return below.filter((each) => !each.endsWith('.md')).sort();
}

/** The hash of every row for what is in the repository now. */
export function contentHashes(ledger: Ledger, root = repository): ReadonlyMap<string, string> {
  return new Map(Object.entries(ledger).map(([file, { proves }]) => [file, contentHash(file, proves, root)]));
}

/** The files whose content is another one than when they were green: those that were never green first, then the oldest. */
export function staleFiles(ledger: Ledger, hashes: ReadonlyMap<string, string>): string[] {
  const stale = Object.entries(ledger).filter(([file, { hash }]) => hash === '' || hash !== hashes.get(file));
  const key = ([file, { green }]: (typeof stale)[number]) => `${green} ${file}`;
  return stale.sort((one, other) => (key(one) < key(other) ? -1 : 1)).map(([file]) => file);
}

/** A file that no run has measured yet. */
const unknownSeconds = 180;
/** What both testbeds take to come up and go down, and the search for secrets. */
const overheadSeconds = 60;

/** How long files take together: the lanes of real binaries run side by side, the others alone. */
export function expectedSeconds(files: readonly string[], durations: Durations): number {
  const sum = { unit: 0, 'full-unit': 0, testbed: 0, lent: 0, host: 0, soak: 0 };
  const secondsOf = (file: string) => durations[file] ?? unknownSeconds;
  for (const file of files) sum[projectOf(file)] += secondsOf(file);
  const longest = Math.max(0, ...files.filter((file) => projectOf(file) === 'testbed').map(secondsOf));
  const sideBySide = Math.max(sum.host, sum.lent, longest, (sum.host + sum.lent + sum.testbed) / 2);
  return overheadSeconds + (sum.unit + sum['full-unit']) / 2 + sideBySide + sum.soak;
}

/** Of stale files those that fit into a budget, the first ones first. One that does not fit lets later ones, which are shorter, go before it. */
export function fitting(stale: readonly string[], durations: Durations, budgetSeconds: number): string[] {
  return stale.reduce<string[]>((chosen, file) => {
    const more = [...chosen, file];
    return expectedSeconds(more, durations) <= budgetSeconds ? more : chosen;
  }, []);
}

/**
 * The ledger after a run.
 * @param reports in their order: of a file in two of them the last one counts
 * @param hashes of when the run began: what has changed meanwhile is not proved
 */
export function withGreen(
  ledger: Ledger,
  reports: readonly RunResult[],
  { hashes, day }: { readonly hashes: ReadonlyMap<string, string>; readonly day: string },
): Ledger {
  // an error that belongs to no file may be that of each one
  const green = new Map(
    reports.flatMap(({ files, unhandled }) =>
      files.map((result) => [result.file, unhandled.length === 0 && isGreen(result)] as const),
    ),
  );
  const rows = Object.entries(ledger).map(([file, row]) => {
    const hash = hashes.get(file);
    return [file, green.get(file) === true && hash !== undefined ? { ...row, hash, green: day } : row] as const;
  });
  return Object.fromEntries(rows);
}

/** A file of which a test was left out, by a name or because it is skipped, has not been proved. */
function isGreen({ tests, passed, failures }: FileResult): boolean {
  return tests > 0 && passed === tests && failures.length === 0;
}

/** Writes down which full and soak files were green. */
export function keepGreen(reports: readonly RunResult[], hashes: ReadonlyMap<string, string>): void {
  // read again: a run takes long, and its rows may have been edited
  const ledger = readLedger();
  if (!reports.some(({ files }) => files.some(({ file }) => ledger[file] !== undefined))) return;
  writeLedger(withGreen(ledger, reports, { hashes, day: new Date().toISOString().slice(0, 10) }));
}

/** What is wrong with the rows, by file. @param exists whether a file or folder is in the repository */
export function ledgerProblems(ledger: Ledger, files: readonly string[], exists: (name: string) => boolean): string[] {
  const wanted = files.filter((file) => tierOf(file) !== 'push');
  const missing = wanted.filter((file) => ledger[file] === undefined);
  return [
    ...missing.map((file) => `${file} has no row: add what it proves, with an empty hash and day`),
    ...Object.entries(ledger).flatMap(([file, { proves, hash, green }]) => [
      ...(wanted.includes(file) ? [] : [`${file} is no full or soak file: remove its row`]),
      ...(proves.length > 0 ? [] : [`${file} proves nothing`]),
      ...proves.filter((name) => !exists(name)).map((name) => `${file} proves ${name}, which is not there`),
      ...((hash === '') === (green === '') ? [] : [`${file} has a hash without a day, or a day without a hash`]),
    ]),
  ];
}
