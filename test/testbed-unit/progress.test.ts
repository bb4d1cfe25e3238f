import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../tools/testbed/progress.ts';

let log: string;
beforeAll(async () => {
  log = join(await mkdtemp(join(tmpdir(), 'progress-')), 'log');
});
afterAll(() => rm(join(log, '..'), { recursive: true }));

const expectation = () => ({ what: 'the program', timeoutMs: 300, log });

it('a wait goes on for longer than its limit while the log of the program grows', async () => {
  await writeFile(log, '');
  const start = performance.now();
  const written = await until(expectation(), async () => {
    await appendFile(log, 'a line\n');
    return performance.now() - start > 500;
  });
  expect(written).toBe(true);
});

it('a wait ends at its limit when the log ends, and repeats its last lines', async () => {
  await writeFile(log, 'it stops here\n');
  await expect(until(expectation(), async () => false)).rejects.toThrow(
    /^the program: not within 0\.3 s\n.*ends with\nit stops here/,
  );
});

it('a wait ends although the log grows for ever', async () => {
  const start = performance.now();
  const endless = until({ ...expectation(), timeoutMs: 200, intervalMs: 5 }, async () => {
    await appendFile(log, 'it restarts\n');
    return false;
  });
  await expect(endless).rejects.toThrow('the program: not within');
  expect(performance.now() - start).toBeGreaterThan(1_900);
});
