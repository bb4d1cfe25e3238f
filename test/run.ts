/**
 * All tests, as `npm test` runs them: the pure ones, then those on real binaries in two lanes side by side, each with a
 * testbed of its own; most of their time is waiting. With arguments it is vitest with these: `npm test -- PATH`.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const directory = import.meta.dirname;
const vitest = join(directory, '../node_modules/vitest/vitest.mjs');
const config = ['--config', join(directory, 'vitest.config.ts')];

/** Names of the testbeds, one for each lane. */
const lanes = ['test', 'test2'];

interface Run {
  readonly args: readonly string[];
  readonly testbed?: string;
  /** What stands before each line; nothing for a run that has the terminal to itself. */
  readonly prefix?: string;
}

/** Runs vitest and gives its exit code. */
function runVitest({ args, testbed, prefix }: Run): Promise<number> {
  const child = spawn(process.execPath, [vitest, 'run', ...config, ...args], {
    stdio: prefix === undefined ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...(testbed === undefined ? {} : { HCP_TESTBED: testbed }) },
  });
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', (line) => console.log(`${prefix}${line}`));
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
  const pure = await runVitest({ args: ['--project', 'unit'] });
  const real = await Promise.all(
    lanes.map((testbed, index) => {
      const shard = `--shard=${index + 1}/${lanes.length}`;
      return runVitest({ args: ['--project', 'testbed', shard], testbed, prefix: `${testbed.padEnd(5)} | ` });
    }),
  );
  process.exitCode = Math.max(pure, ...real);
}
