import { mkdir, rm, writeFile } from 'node:fs/promises';
import { OutputCollector } from '../support/output-collector.ts';
import { Needles, scanDirectory } from '../support/output-scan.ts';
import { checkHealth } from '../testbed/health.ts';
import { instanceFrom } from '../testbed/instance.ts';
import { takeDown } from '../testbed/take-down.ts';
import { hasUsers } from '../testbed/users.ts';
import committed from './durations.json' with { type: 'json' };
import { drift, durationsOf } from './file-times.ts';
import { type LaneEnd, verdictOf } from './gate.ts';
import { type Lane, reportFile, runLane } from './lane.ts';
import { measuredFile, output } from './output.ts';
import { againLane, type Plan, testbeds } from './plan.ts';
import { ProcessorTimeRecorder } from './processor-time.ts';
import { describeResult, type FileResult, readReport } from './result.ts';
import { laneSummary, processorSummary } from './summary.ts';

/** A pure file that takes as long has its duration committed. */
const longPureSeconds = 5;

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
export async function runPlan(plan: Plan): Promise<Outcome> {
  // A signal of the terminal reaches vitest, too: this process ends after all of those that run, and starts no more.
  let isInterrupted = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => (isInterrupted = true));

  await rm(output, { recursive: true, force: true });
  await mkdir(output, { recursive: true });
  await removeRemains();
  const recorder = new ProcessorTimeRecorder();
  const needles = new Needles();
  const collectors = Object.values(testbeds).map(
    (testbed) => new OutputCollector(testbed, { directory: output, needles }),
  );
  const ends: LaneEnd[] = [];
  const red: string[] = [];
  const run = async (lane: Lane, index: number): Promise<LaneEnd> => {
    const code = await runLane(lane, index, output);
    return { name: lane.name, code, report: await readReport(reportFile(lane.name, output)) };
  };

  if (plan.pure) ends.push(await run(plan.pure, 0));
  // nothing of real binaries starts: it would take half an hour to say what is known
  if (ends.some(({ code }) => code !== 0)) red.push('pure tests failed: no others were run');
  const real: LaneEnd[] = [];
  if (red.length === 0 && !isInterrupted) {
    real.push(...(await Promise.all(plan.real.map((lane, index) => run(lane, index + 1)))));
    if (plan.soak && !isInterrupted) real.push(await run(plan.soak, 0));
  }
  ends.push(...real);

  const verdict = isInterrupted ? { again: [], red: ['interrupted'] } : verdictOf(real);
  red.push(...verdict.red);
  const seconds: LaneEnd[] = [];
  for (const [index, file] of verdict.again.entries()) {
    console.log(`${file} failed, and runs once more, alone`);
    if (!isInterrupted) seconds.push(await run(againLane(file, index + 1), 0));
  }
  await Promise.all(collectors.map((collector) => collector.stop()));
  if (await hasSecrets(needles)) red.push('the output contains secrets');

  await reportTimes(ends, real);
  for (const line of processorSummary(await recorder.stop())) console.log(line);
  const passedAgain = new Set(seconds.filter(({ code }) => code === 0).flatMap(({ report }) => report?.files ?? []));
  for (const { file } of passedAgain) console.log(`FLAKED ${file}`);
  for (const { name, code, report } of [...ends, ...seconds]) {
    for (const line of describeResult(report, code)) console.log(`${name.padEnd(5)} | ${line}`);
  }
  const files = lastResults([...ends, ...seconds]);
  if (files.some(({ failures }) => failures.length > 0)) red.push('tests failed');
  for (const reason of red) console.log(`red: ${reason}`);
  console.log(totalOf(files));
  return { code: isInterrupted ? 130 : red.length > 0 ? 1 : 0, files };
}

/** The results of files, of which one that ran twice counts as it ended the second time. */
function lastResults(ends: readonly LaneEnd[]): FileResult[] {
  return [...new Map(ends.flatMap(({ report }) => report?.files ?? []).map((each) => [each.file, each])).values()];
}

/** The last line of a run. */
function totalOf(files: readonly FileResult[]): string {
  const passed = files.reduce((sum, file) => sum + file.passed, 0);
  const failed = files.reduce((sum, file) => sum + file.tests - file.passed, 0);
  return `${passed} passed, ${failed} failed`;
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
async function reportTimes(ends: readonly LaneEnd[], real: readonly LaneEnd[]): Promise<void> {
  for (const { name, report } of ends)
    for (const line of laneSummary(report?.files ?? [])) console.log(`${name.padEnd(5)} | ${line}`);
  const timesOf = (lanes: readonly LaneEnd[]) => lanes.flatMap(({ report }) => report?.files ?? []);
  const measured = durationsOf(timesOf(real));
  const kept = { ...measured, ...durationsOf(timesOf(ends.filter((end) => !real.includes(end))), longPureSeconds) };
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
