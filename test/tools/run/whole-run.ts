import { mkdir, rm, writeFile } from 'node:fs/promises';
import type { Needles } from '../../support/output-scan.ts';
import { run } from '../testbed/run.ts';
import committed from './durations.json' with { type: 'json' };
import { drift, durationsOf, type FileTime } from './file-times.ts';
import { type Flake, flakeOf, readFlakes, withFlake, writeFlakes } from './flakes.ts';
import { crashOf, type LaneEnd, refusalAfter, verdictOf } from './gate.ts';
import { interruption, type Lane, reportFile, runLane } from './lane.ts';
import { costFile, measuredFile, output } from './output.ts';
import { againLane, type Plan } from './plan.ts';
import { ProcessorTimeRecorder } from './processor-time.ts';
import { removeRemains } from './remains.ts';
import { describeResult, type FileResult, lastResults, readReport, type RunReport } from './result.ts';
import { costOf } from './runs.ts';
import { SecretSearch } from './secret-search.ts';
import { laneSummary, processorSummary } from './summary.ts';
import { testbeds } from './testbeds.ts';

/** A pure file that takes as long has its duration committed. */
const longPureSeconds = 5;

/** How a plan is run. */
export interface RunOptions {
  /** Names of the families of binaries that are compiled before the first file on real binaries. */
  readonly families: readonly string[];
  /** Ends the run: what has not ended by then is not told, and is not red. */
  readonly deadline?: AbortSignal;
}

/** What a run of many files has come to. */
export interface Outcome {
  readonly code: number;
  /** Of its lanes, and then of the files that ran once more. */
  readonly reports: readonly RunReport[];
}

/**
 * Runs a plan: its pure tests, and if all of them pass, those on real binaries. A file of these that fails runs once more, alone, at the
 * end. Then all output is searched for private keys and other secrets.
 */
export async function runPlan(plan: Plan, { families, deadline }: RunOptions): Promise<Outcome> {
  const interrupted = interruption();
  const signal = deadline ? AbortSignal.any([interrupted, deadline]) : interrupted;
  const isOver = () => signal.aborted;

  await rm(output, { recursive: true, force: true });
  await mkdir(output, { recursive: true });
  const red = await removeRemains();
  const recorder = new ProcessorTimeRecorder();
  const search = new SecretSearch(output, Object.values(testbeds));
  const runOne = async (lane: Lane, index: number): Promise<LaneEnd> => {
    const code = await runLane(lane, { index, output, families, signal });
    return { name: lane.name, code, files: lane.files, report: await readReport(reportFile(lane.name, output)) };
  };

  const pure = plan.pure ? [await runOne(plan.pure, 0)] : [];
  const refused = isOver() ? [] : pure.flatMap((end) => refusalAfter(end) ?? []);
  red.push(...refused);
  const real: LaneEnd[] = [];
  if (refused.length === 0 && !isOver()) {
    real.push(...(await Promise.all(plan.real.map((lane, index) => runOne(lane, index + 1)))));
    if (plan.soak && !isOver()) real.push(await runOne(plan.soak, 0));
  }

  const verdict = isOver() ? { again: [], red: [] } : verdictOf(real);
  red.push(...verdict.red);
  const seconds: LaneEnd[] = [];
  for (const [index, file] of verdict.again.entries()) {
    if (isOver()) break;
    console.log(`${file} failed, and runs once more, alone`);
    seconds.push(await runOne(againLane(file, index + 1), 0));
  }
  // what a file leaves behind is red also if its tests pass the second time
  if (!isOver()) red.push(...seconds.flatMap((end) => crashOf(end) ?? []));
  red.push(...(await search.end()));
  if (deadline?.aborted === true) red.push(...(await removeRemains()));

  const ends = [...pure, ...real];
  await reportTimes(pure, real);
  const time = await recorder.stop();
  for (const line of processorSummary(time)) console.log(line);
  const cost = costOf(today(), time, timesOf(real));
  await writeFile(costFile, JSON.stringify(cost));
  for (const { name, code, report } of [...ends, ...seconds]) {
    for (const line of describeResult(report, isOver() ? 0 : code)) console.log(`${name.padEnd(5)} | ${line}`);
  }
  const reports = reportsOf([...ends, ...seconds]);
  const files = lastResults(reports);
  await keepFlakes(
    lastResults(reportsOf(ends)).filter(({ file, failures }) => failures.length > 0 && passes(files, file)),
    search.needles,
  );
  if (files.some(({ failures }) => failures.length > 0)) red.push('tests failed');
  if (interrupted.aborted) red.push('interrupted');
  for (const reason of red) console.log(`red: ${reason}`);
  return { code: interrupted.aborted ? 130 : red.length > 0 ? 1 : 0, reports };
}

function reportsOf(ends: readonly LaneEnd[]): RunReport[] {
  return ends.flatMap(({ report }) => report ?? []);
}

function timesOf(lanes: readonly LaneEnd[]): readonly FileTime[] {
  return reportsOf(lanes).flatMap(({ files }) => files);
}

const today = () => new Date().toISOString().slice(0, 10);

function passes(files: readonly FileResult[], wanted: string): boolean {
  return files.some(({ file, failures }) => file === wanted && failures.length === 0);
}

/** Opens a row for each file that failed, and passed alone. */
async function keepFlakes(flaked: readonly FileResult[], needles: Needles): Promise<void> {
  if (flaked.length === 0) return;
  const commit = await run(['git', 'rev-parse', 'HEAD'], { cwd: import.meta.dirname }).catch(() => '');
  const flakes = flaked.map((result) => flakeOf(result, { day: today(), commit: commit.trim(), needles }));
  writeFlakes(flakes.reduce<readonly Flake[]>(withFlake, readFlakes()));
  for (const { file, reason } of flakes) console.log(`FLAKED ${file}: ${reason}`);
  console.log(
    'test/tools/run/flakes.json has their rows: commit it, find the causes, and name each as "cause" of its row',
  );
}

/** Prints the durations, and which committed durations are outdated. */
async function reportTimes(pure: readonly LaneEnd[], real: readonly LaneEnd[]): Promise<void> {
  for (const { name, report } of [...pure, ...real])
    for (const line of laneSummary(report?.files ?? [])) console.log(`${name.padEnd(5)} | ${line}`);
  const measured = durationsOf(timesOf(real));
  const kept = { ...measured, ...durationsOf(timesOf(pure), longPureSeconds) };
  await writeFile(measuredFile, `${JSON.stringify(kept, undefined, 2)}\n`);
  const drifted = drift(committed, measured);
  if (drifted.length === 0) return;
  console.log(
    'the durations of these files differ from test/tools/run/durations.json; `npm run test:durations` stores those of this run:',
  );
  for (const line of drifted) console.log(`  ${line}`);
}
