import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { swap } from '../../../../reconciler/backup/receiver/data-directories.ts';

const run = '2026-11-21T12-00-00Z-abc';
let volume: string;
beforeEach(async () => {
  volume = await mkdtemp(join(tmpdir(), 'swap-'));
});
afterEach(() => rm(volume, { recursive: true }));

async function put(path: string, content: string): Promise<void> {
  await mkdir(dirname(join(volume, path)), { recursive: true });
  await writeFile(join(volume, path), content);
}

const read = (path: string) => readFile(join(volume, path), 'utf8');

describe('the swap of data directories', () => {
  /** Every state that a killed process can leave, by the location of each file. */
  const states: [string, Readonly<Record<string, string>>][] = [
    ['nothing has been done', { 'data/db': 'old', [`incoming/${run}/data/db`]: 'new' }],
    [
      'the old data is set aside',
      { [`set-aside/${run}/data/db`]: 'old', [`incoming/${run}/data/db`]: 'new', [`incoming/${run}/snapshot.db`]: '' },
    ],
    [
      'the new data is in place',
      { [`set-aside/${run}/data/db`]: 'old', 'data/db': 'new', [`incoming/${run}/snapshot.db`]: '' },
    ],
    ['all is done', { [`set-aside/${run}/data/db`]: 'old', 'data/db': 'new' }],
    [
      'the whole run is made once more, because its pod was lost',
      { [`set-aside/${run}/data/db`]: 'old', 'data/db': 'new', [`incoming/${run}/data/db`]: 'new' },
    ],
  ];

  it.each(states)('ends with both in their places if %s', async (_, files) => {
    for (const [path, content] of Object.entries(files)) await put(path, content);
    await swap(volume, run);
    expect(await read('data/db')).toBe('new');
    expect(await read(`set-aside/${run}/data/db`)).toBe('old');
    expect((await readdir(volume)).sort()).toEqual(['data', 'set-aside']);
  });

  it('works on a volume without data', async () => {
    await put(`incoming/${run}/data/db`, 'new');
    await swap(volume, run);
    await swap(volume, run);
    expect(await read('data/db')).toBe('new');
  });

  it('changes nothing if nothing was restored', async () => {
    await put('data/db', 'old');
    await expect(swap(volume, run)).rejects.toThrow('there is no restored data');
    expect(await read('data/db')).toBe('old');
  });

  it('keeps the data that the newest two restores have set aside', async () => {
    for (const earlier of ['2026-11-19T12-00-00Z-a', '2026-11-20T12-00-00Z-b']) {
      await put(`set-aside/${earlier}/data/db`, '');
    }
    await put('data/db', 'old');
    await put(`incoming/${run}/data/db`, 'new');
    await swap(volume, run);
    expect((await readdir(join(volume, 'set-aside'))).sort()).toEqual(['2026-11-20T12-00-00Z-b', run]);
  });
});
