/**
 * All tests, as `npm test` runs them: the pure ones, then those on real binaries in two lanes side by side, each with a
 * testbed of its own; most of their time is waiting. Then everything that was said meanwhile is searched for private keys
 * and other secrets. With arguments it is vitest with these: `npm test -- PATH`.
 */
import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { OutputCollector } from './support/output-collector.ts';
import { Needles, scanDirectory } from './support/output-scan.ts';
import { readReport, verdict } from './verdict.ts';

const directory = import.meta.dirname;
const vitest = join(directory, '../node_modules/vitest/vitest.mjs');
const config = ['--config', join(directory, 'vitest.config.ts')];

/** Everything that a run says, until the next one; ignored by git. */
const output = join(directory, '../.test-output');

/** Names of the testbeds, one for each lane. */
const lanes = ['test', 'test2'];

interface Run {
  readonly args: readonly string[];
  readonly testbed?: string;
  /** What stands before each line. A run without it has the terminal to itself, and nothing of it is kept. */
  readonly prefix?: string;
  /** Name of the files in which its output and its report are kept. */
  readonly log?: string;
}

/** Runs vitest and gives its exit code. */
function runVitest({ args, testbed, prefix, log }: Run): Promise<number> {
  const reporters = log === undefined ? [] : ['--reporter=default', '--reporter=json', `--outputFile=${reportOf(log)}`];
  const child = spawn(process.execPath, [vitest, 'run', ...config, ...reporters, ...args], {
    stdio: prefix === undefined ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}),
      ...(testbed === undefined ? {} : { HCP_TESTBED: testbed }),
    },
  });
  const kept = log === undefined ? undefined : createWriteStream(join(output, `${log}.log`), { flags: 'a' });
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue;
    createInterface({ input: stream }).on('line', (line) => {
      console.log(`${prefix}${line}`);
      kept?.write(`${line}\n`);
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

// A signal of the terminal reaches vitest, too: this ends when all of them have.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});

const given = process.argv.slice(2);
if (given.length > 0) {
  process.exitCode = await runVitest({ args: given });
} else {
  await rm(output, { recursive: true, force: true });
  await mkdir(output, { recursive: true });
  const pure = await runVitest({ args: ['--project', 'unit'], prefix: '', log: 'unit' });
  const needles = new Needles();
  const collectors = lanes.map((testbed) => new OutputCollector(testbed, { directory: output, needles }));
  const real = await Promise.all(
    lanes.map((testbed, index) => {
      const shard = `--shard=${index + 1}/${lanes.length}`;
      return runVitest({
        args: ['--project', 'testbed', shard],
        testbed,
        prefix: `${testbed.padEnd(5)} | `,
        log: testbed,
      });
    }),
  );
  await Promise.all(collectors.map((collector) => collector.stop()));
  const secrets = await findSecrets(needles);
  await tellVerdict('unit', pure);
  for (const [index, code] of real.entries()) await tellVerdict(lanes[index] ?? '', code);
  process.exitCode = Math.max(pure, ...real, secrets);
}

function reportOf(log: string): string {
  return join(output, `${log}.json`);
}

/** Says last what of a run failed: the lanes wrote between each other, and far above. */
async function tellVerdict(log: string, code: number): Promise<void> {
  for (const line of verdict(await readReport(reportOf(log)), { code, root: join(directory, '..') }))
    console.log(`${log.padEnd(5)} | ${line}`);
}

/** Gives 1 when any output tells a secret. */
async function findSecrets(needles: Needles): Promise<number> {
  const found = await scanDirectory(output, needles);
  console.log(`all output searched for ${needles.size} forms of secrets, and for private keys: ${found.length} found`);
  for (const { file, line, what } of found) console.error(`.test-output/${file}:${line} tells ${what}`);
  return found.length > 0 ? 1 : 0;
}
