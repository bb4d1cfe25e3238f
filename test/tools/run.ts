/**
 * Tests in tiers. `npm test` runs what every push proves: the pure tests, then those on real binaries in three lanes side by side, which
 * test/RUN.md describes. `npm run test:full` runs test/full with them, and `npm run test:stale` of test/full what has changed since it was green.
 * With other arguments it is vitest with these: `npm test -- PATH`.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import durations from './run/durations.json' with { type: 'json' };
import { testFiles, type Tier, tierOf } from './run/files.ts';
import { readFlakes, refusalOf } from './run/flakes.ts';
import { interruption, reportFile, runNamed } from './run/lane.ts';
import { contentHashes, fitting, keepGreen, readLedger, staleFiles } from './run/ledger.ts';
import { output } from './run/output.ts';
import { neededFamilies, planOf } from './run/plan.ts';
import { lastResults, lastTotal, printTotal, readReport, type Total, totalOf } from './run/result.ts';
import { SecretSearch } from './run/secret-search.ts';
import { testbeds } from './run/testbeds.ts';
import { runPlan } from './run/whole-run.ts';

const given = process.argv.slice(2);
process.exitCode = await chosen(given);

function chosen([mode, ...rest]: readonly string[]): Promise<number> {
  if (mode === undefined) return runTiers('push');
  if (mode === '--full' && rest.length === 0) return runTiers('push', 'full');
  if (mode === '--full') return runGiven(rest);
  return mode === '--stale' ? runStale(rest) : runGiven([mode, ...rest]);
}

async function runTiers(...tiers: readonly Tier[]): Promise<number> {
  const refusal = () => (tiers.includes('full') ? refusalOf(readFlakes()) : undefined);
  const before = refusal();
  if (before !== undefined) console.log(`red: ${before}`);
  const code = await runFiles(
    testFiles().filter((file) => tiers.includes(tierOf(file))),
    {},
    // this run may have opened a row
    () => {
      const after = refusal();
      if (after !== undefined) console.log(`red: ${after}`);
    },
  );
  return refusal() === undefined ? code : Math.max(code, 1);
}

/** Runs the stale files that fit into the minutes, and prints which stay stale. */
async function runStale(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '45' },
      soak: { type: 'boolean', default: false },
      continues: { type: 'boolean', default: false },
    },
  });
  const budgetSeconds = 60 * Number(values.minutes);
  if (!(budgetSeconds >= 0)) throw new Error('usage: npm run test:stale -- [--minutes N] [--soak] [--continues]');
  const before = values.continues ? await lastTotal() : undefined;
  const stale = () => {
    const ledger = readLedger();
    const all = staleFiles(ledger, contentHashes(ledger));
    return all.filter((file) => values.soak || tierOf(file) === 'full');
  };
  const wanted = stale();
  const fit = fitting(wanted, durations, budgetSeconds);
  console.log(
    `${wanted.length} files are stale, of which ${fit.length} fit into ${Math.round(budgetSeconds / 60)} minutes:`,
  );
  for (const file of fit) console.log(`  ${file}`);
  return runFiles(fit, { deadline: AbortSignal.timeout(budgetSeconds * 1000), ...(before && { before }) }, () => {
    const ledger = readLedger();
    for (const file of stale()) console.log(`stays stale: ${file}, green ${ledger[file]?.green || 'never'}`);
  });
}

async function runFiles(
  files: readonly string[],
  { deadline, before }: { readonly deadline?: AbortSignal; readonly before?: Total } = {},
  report: () => void = () => {},
): Promise<number> {
  const ledger = readLedger();
  const hashes = contentHashes(ledger);
  const families = neededFamilies(files, ledger);
  const outcome =
    files.length > 0
      ? await runPlan(planOf(files, testFiles()), { families, ...(deadline && { deadline }) })
      : { code: 0, reports: [] };
  keepGreen(outcome.reports, hashes);
  report();
  await printTotal(totalOf(lastResults(outcome.reports), before));
  return outcome.code;
}

/**
 * Runs vitest with these arguments, and searches what it prints and what its testbeds report for secrets. Whole files of full and soak
 * that are green are written down.
 */
async function runGiven(args: readonly string[]): Promise<number> {
  const hashes = contentHashes(readLedger());
  const directory = join(output, 'named');
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  const search = new SecretSearch(directory, [process.env['HCP_TESTBED'] ?? testbeds.real]);
  const code = await runNamed('named', args, { output: directory, signal: interruption() });
  const red = await search.end();
  for (const reason of red) console.log(`red: ${reason}`);
  const report = await readReport(reportFile('named', directory));
  const isWhole = args.every((arg) => !arg.startsWith('-') || arg === '--project');
  if (isWhole && report) keepGreen([report], hashes);
  return red.length > 0 ? Math.max(code, 1) : code;
}
