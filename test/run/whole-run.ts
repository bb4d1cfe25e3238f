import { mkdir, rm, writeFile } from 'node:fs/promises';
import { OutputCollector } from '../support/output-collector.ts';
import { Needles, scanDirectory } from '../support/output-scan.ts';
import { checkHealth } from '../testbed/health.ts';
import { instanceFrom } from '../testbed/instance.ts';
import { run } from '../testbed/run.ts';
import { takeDown } from '../testbed/take-down.ts';
import { hasUsers } from '../testbed/users.ts';
import committed from './durations.json' with { type: 'json' };
import { drift, durationsOf, type FileTime } from './file-times.ts';
import { type Flake, flakeOf, readFlakes, withFlake, writeFlakes } from './flakes.ts';
import { crashOf, type LaneEnd, verdictOf } from './gate.ts';
import { type Lane, reportFile, runLane } from './lane.ts';
import { costFile, measuredFile, output } from './output.ts';
import { againLane, type Plan, testbeds } from './plan.ts';
import { ProcessorTimeRecorder } from './processor-time.ts';
import { describeResult, type FileResult, readReport } from './result.ts';
import { costOf } from './runs.ts';
import { laneSummary, processorSummary } from './summary.ts';

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
  /** The last result of each file that ended. */
  readonly files: readonly FileResult[];
}

/**
 * Runs a plan: its pure tests, and if all of them pass, those on real binaries. A file of these that fails runs once more, alone, at the
 * end. Then all output is searched for private keys and other secrets.
 */
export async function runPlan(plan: Plan, { families, deadline }: RunOptions): Promise<Outcome> {
  // A signal of the terminal reaches vitest, too: this process ends after all of those that run, and starts no more.
  let isInterrupted = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => (isInterrupted = true));
  const isOver = () => isInterrupted || deadline?.aborted === true;

  await rm(output, { recursive: true, force: true });
  await mkdir(output, { recursive: true });
  await removeRemains();
  const recorder = new ProcessorTimeRecorder();
  const needles = new Needles();
  const collectors = Object.values(testbeds).map(
    (testbed) => new OutputCollector(testbed, { directory: output, needles }),
  );
  const runOne = async (lane: Lane, index: number): Promise<LaneEnd> => {
    const code = await runLane(lane, { index, output, families, signal: deadline });
    return { name: lane.name, code, files: lane.files, report: await readReport(reportFile(lane.name, output)) };
  };

  const pure = plan.pure ? [await runOne(plan.pure, 0)] : [];
  // nothing of real binaries starts: it would take half an hour to say what is known
  const red = pure.some(({ code }) => code !== 0) && !isOver() ? ['a pure test failed: no others were run'] : [];
  const real: LaneEnd[] = [];
  if (red.length === 0 && !isOver()) {
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
  await Promise.all(collectors.map((collector) => collector.stop()));
  if (deadline?.aborted === true) await removeRemains();
  if (await hasSecrets(needles)) red.push('the output contains secrets');

  const ends = [...pure, ...real];
  await reportTimes(pure, real);
  const time = await recorder.stop();
  for (const line of processorSummary(time)) console.log(line);
  const cost = costOf(today(), time, timesOf(real));
  await writeFile(costFile, JSON.stringify(cost));
  for (const { name, code, report } of [...ends, ...seconds]) {
    for (const line of describeResult(report, isOver() ? 0 : code)) console.log(`${name.padEnd(5)} | ${line}`);
  }
  const first = lastResults(ends);
  const files = lastResults([...ends, ...seconds]);
  await keepFlakes(
    first.filter(({ file, failures }) => failures.length > 0 && passes(files, file)),
    needles,
  );
  if (files.some(({ failures }) => failures.length > 0)) red.push('tests failed');
  if (isInterrupted) red.push('interrupted');
  for (const reason of red) console.log(`red: ${reason}`);
  return { code: isInterrupted ? 130 : red.length > 0 ? 1 : 0, files };
}

function timesOf(lanes: readonly LaneEnd[]): readonly FileTime[] {
  return lanes.flatMap(({ report }) => report?.files ?? []);
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
  console.log('test/run/flakes.json has their rows: commit it, find the causes, and name each as "cause" of its row');
}

/** The results of files, of which one that ran twice counts as it ended the second time. */
function lastResults(ends: readonly LaneEnd[]): FileResult[] {
  return [...new Map(ends.flatMap(({ report }) => report?.files ?? []).map((each) => [each.file, each])).values()];
}

/** Takes down the leftovers of an interrupted run, whose namespaces would conflict. */
async function removeRemains(): Promise<void> {
  for (const testbed of Object.values(testbeds)) {
    const instance = instanceFrom(process.env, testbed);
    if ((await checkHealth(instance)).state === 'down' || (await hasUsers(instance))) continue;
    await takeDown(instance, (line) => console.log(line));
  }
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
    'the durations of these files differ from test/run/durations.json; `npm run test:durations` stores those of this run:',
  );
  for (const line of drifted) console.log(`  ${line}`);
}

/** Whether any output contains a secret. */
async function hasSecrets(needles: Needles): Promise<boolean> {
  const found = await scanDirectory(output, needles);
  console.log(`all output searched for ${needles.size} forms of secrets, and for private keys: ${found.length} found`);
  for (const { file, line, what } of found) console.error(`.test-output/${file}:${line} contains ${what}`);
  return found.length > 0;
}
