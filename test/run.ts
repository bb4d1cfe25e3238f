/**
 * All tests, as `npm test` runs them: the pure ones, then those on real binaries in two lanes side by side: those that use
 * the whole host or every namespace of a testbed, one file after the other, and the others, some files at a time on
 * one testbed. Then all output is searched for private keys and other secrets.
 * With arguments it is vitest with these: `npm test -- PATH`.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import durations from './run/durations.json' with { type: 'json' };
import { drift, durationsOf } from './run/file-times.ts';
import { type Lane, reportFile, runLane, runVitest } from './run/lane.ts';
import { measuredFile, output } from './run/output.ts';
import { ProcessorTimeRecorder } from './run/processor-time.ts';
import { laneSummary, processorSummary } from './run/summary.ts';
import { readReport, describeResult } from './run/result.ts';
import { OutputCollector } from './support/output-collector.ts';
import { Needles, scanDirectory } from './support/output-scan.ts';
import { checkHealth } from './testbed/health.ts';
import { instanceFrom } from './testbed/instance.ts';
import { takeDown } from './testbed/take-down.ts';
import { hasUsers } from './testbed/users.ts';

const pure: Lane = { name: 'unit', project: 'unit' };
const real: readonly Lane[] = [
  { name: 'host', project: 'host', testbed: 'testhost', room: 'counts' },
  { name: 'real', project: 'testbed', testbed: 'test', room: 'waits' },
];

/** A pure file that takes as long has its place in the order. */
const longPureSeconds = 5;

const lanes = [pure, ...real];
const testbeds = real.flatMap(({ testbed }) => testbed ?? []);

// A signal of the terminal reaches vitest, too: this process ends after all of those that run, and starts no more.
let isInterrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => (isInterrupted = true));

const given = process.argv.slice(2);
process.exitCode = given.length > 0 ? await runVitest(given) : await runAll();

async function runAll(): Promise<number> {
  await rm(output, { recursive: true, force: true });
  await mkdir(output, { recursive: true });
  await removeRemains();
  const recorder = new ProcessorTimeRecorder();
  const needles = new Needles();
  const collectors = testbeds.map((testbed) => new OutputCollector(testbed, { directory: output, needles }));
  // The pure ones alone: they use all processors, and their failures are reported at once.
  const code = await runLane(pure, 0, output);
  const further = isInterrupted ? [] : real;
  const codes = [code, ...(await Promise.all(further.map((lane, index) => runLane(lane, index + 1, output))))];
  await Promise.all(collectors.map((collector) => collector.stop()));
  const secrets = await findSecrets(needles);

  await reportTimes();
  for (const line of processorSummary(await recorder.stop())) console.log(line);
  for (const [index, { name }] of [pure, ...further].entries()) await reportResult(name, codes[index] ?? 1);
  return isInterrupted ? 130 : Math.max(...codes, secrets);
}

/** Takes down the leftovers of an interrupted run, whose namespaces would conflict. */
async function removeRemains(): Promise<void> {
  for (const testbed of testbeds) {
    const instance = instanceFrom(process.env, testbed);
    if ((await checkHealth(instance)).state === 'down' || (await hasUsers(instance))) continue;
    await takeDown(instance, (line) => console.log(line));
  }
}

/** Prints the durations, and which committed durations are outdated. */
async function reportTimes(): Promise<void> {
  const times = await Promise.all(lanes.map(async ({ name }) => (await readReport(reportFile(name, output)))?.files));
  for (const [index, { name }] of lanes.entries())
    for (const line of laneSummary(times[index] ?? [])) console.log(`${name.padEnd(5)} | ${line}`);
  const timesOf = (wanted: readonly Lane[]) => wanted.flatMap((lane) => times[lanes.indexOf(lane)] ?? []);
  const measured = durationsOf(timesOf(real));
  // of the hundreds of pure files only those that could end last need a place in the order
  const kept = { ...measured, ...durationsOf(timesOf([pure]), longPureSeconds) };
  await writeFile(measuredFile, `${JSON.stringify(kept, undefined, 2)}\n`);
  const drifted = drift(durations, measured);
  if (drifted.length === 0) return;
  console.log(
    'the durations of these files differ from test/run/durations.json; `npm run test:durations` stores those of this run:',
  );
  for (const line of drifted) console.log(`  ${line}`);
}

/** Prints the failures last, because the lanes mix their output, and far above. */
async function reportResult(name: string, code: number): Promise<void> {
  const report = await readReport(reportFile(name, output));
  for (const line of describeResult(report, code)) console.log(`${name.padEnd(5)} | ${line}`);
}

/** Returns 1 if any output contains a secret. */
async function findSecrets(needles: Needles): Promise<number> {
  const found = await scanDirectory(output, needles);
  console.log(`all output searched for ${needles.size} forms of secrets, and for private keys: ${found.length} found`);
  for (const { file, line, what } of found) console.error(`.test-output/${file}:${line} contains ${what}`);
  return found.length > 0 ? 1 : 0;
}
