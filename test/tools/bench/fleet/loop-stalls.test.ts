import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { node } from '../child-program.ts';
import { stallFigures, stallsIn, watchingModule } from './loop-stalls.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'stalls-'));
});
afterAll(() => rm(directory, { recursive: true }));

it('a process writes down that its event loop stood still, how often and how long', async () => {
  const file = join(directory, 'stalls.json');
  const program = `const stand = (ms) => { const end = performance.now() + ms; while (performance.now() < end); };
    setTimeout(() => stand(700), 100); setTimeout(() => {}, 3000);`;
  await promisify(execFile)(node, ['--import', watchingModule(file), '--eval', program]);
  const { counts, longestMs } = await stallsIn(file);
  expect(longestMs).toBeGreaterThan(650);
  expect(counts.slice(3).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
});

it('a process that has written nothing yet has had no stall', async () => {
  expect(await stallsIn(join(directory, 'missing'))).toEqual({ counts: [0, 0, 0, 0, 0], longestMs: 0 });
});

it('the stalls of several processes are one histogram', () => {
  const figures = stallFigures([
    { counts: [1, 2, 3, 4, 5], longestMs: 1_200 },
    { counts: [1, 0, 0, 0, 0], longestMs: 60 },
  ]);
  expect(figures.map(({ name, value }) => [name.replace('fleet: ', ''), value])).toEqual([
    ['longest stall of the event loop', 1_200],
    ['stalls of 50 ms to 100 ms', 2],
    ['stalls of 100 ms to 200 ms', 2],
    ['stalls of 200 ms to 500 ms', 3],
    ['stalls of 500 ms to 1000 ms', 4],
    ['stalls of 1000 ms and more', 5],
  ]);
});
