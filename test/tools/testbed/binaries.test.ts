import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findFurtherBinaries } from './binaries.ts';
import { families } from './families.ts';

const pause = families.filter(({ name }) => name === 'pause');

test('a family that two others name is built once, and found again', async () => {
  const cache = await mkdtemp(join(tmpdir(), 'cache-'));
  try {
    const told: string[] = [];
    const report = (line: string): void => void told.push(line.replace(/^ *[\d.]+ s {2}/, ''));
    const built = await findFurtherBinaries([...pause, ...pause], cache, report);
    expect(told).toEqual(['building pause, 1 of 1', 'binaries: built']);
    expect((await readdir(join(cache, 'bin'))).filter((name) => name.endsWith('.partial'))).toEqual([]);
    expect(await findFurtherBinaries([...pause, ...pause], cache, () => {})).toEqual(built);
  } finally {
    await rm(cache, { recursive: true, force: true });
  }
});
