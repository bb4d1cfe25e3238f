/**
 * Runs test files repeatedly beside programs that keep the processors busy, to find tests that pass only on a quiet
 * machine or only sometimes:
 * npm run test:again -- FILE ... [--times 10] [--busy 2]
 * Each run's output is kept in `.test-output/again-N.log`; a failed run lists its failed tests. A failure is a race, in
 * the product or in the test.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { interruption, runQuietly } from './run/lane.ts';
import { output } from './run/output.ts';
import { clock } from './run/summary.ts';
import { readReport, describeResult } from './run/result.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { times: { type: 'string', default: '10' }, busy: { type: 'string', default: '2' } },
});
const [times, busy] = [Number(values.times), Number(values.busy)];
if (positionals.length === 0 || !(times >= 1) || !(busy >= 0)) {
  console.error('usage: npm run test:again -- FILE ... [--times 10] [--busy 2]');
  process.exit(2);
}

const loops: ChildProcess[] = [];
// vitest gets the signal of the terminal, too
const interrupted = interruption();

await mkdir(output, { recursive: true });
let failures = 0;
let runs = 0;
try {
  for (let index = 0; index < busy; index++) loops.push(spawn(process.execPath, ['-e', 'for (;;);']));
  for (; runs < times && !interrupted.aborted; runs++) {
    const name = `again-${runs + 1}`;
    const report = join(output, `${name}.json`);
    await rm(report, { force: true });
    const begun = performance.now();
    // one testbed for all runs: the last one takes it down
    const keep = runs < times - 1 ? '1' : '';
    const code = await runQuietly(positionals, {
      log: join(output, `${name}.log`),
      report,
      env: { HCP_TESTBED: 'again', HCP_KEEP_TESTBED: keep },
    });
    if (code !== 0) failures += 1;
    const took = clock((performance.now() - begun) / 1000);
    const lines = describeResult(await readReport(report), code);
    console.log(`run ${runs + 1} of ${times}, ${took}: ${lines.join('\n')}`);
  }
} finally {
  for (const loop of loops) loop.kill('SIGKILL');
}
console.log(`${runs - failures} of ${runs} runs passed beside ${busy} busy loops`);
process.exitCode = failures > 0 || runs < times ? 1 : 0;
