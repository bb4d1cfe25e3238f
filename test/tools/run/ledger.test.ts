import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testFiles } from './files.ts';
import {
  contentHash,
  expectedSeconds,
  fitting,
  ledgerProblems,
  readLedger,
  type Row,
  staleFiles,
  withGreen,
  writeLedger,
} from './ledger.ts';
import type { FileResult, RunResult } from './result.ts';

const row = (hash: string, green: string) => ({ proves: ['reconciler'], hash, green });

describe('the ledger in the repository', () => {
  it('has a row for each full and soak file, whose files and folders are there', () => {
    const exists = (name: string) => existsSync(join(import.meta.dirname, '../../..', name));
    expect(ledgerProblems(readLedger(), testFiles(), exists)).toEqual([]);
  });

  it.each<[problem: string, ledger: Parameters<typeof ledgerProblems>[0]]>([
    ['test/full/a.test.ts has no row: add what it proves, with an empty hash and day', {}],
    ['test/full/a.test.ts proves nothing', { 'test/full/a.test.ts': { ...row('', ''), proves: [] } }],
    [
      'test/full/a.test.ts proves gone, which is not there',
      { 'test/full/a.test.ts': { ...row('', ''), proves: ['gone'] } },
    ],
    ['test/full/a.test.ts has a hash without a day, or a day without a hash', { 'test/full/a.test.ts': row('1', '') }],
    [
      'test/a.test.ts is no full or soak file: remove its row',
      { 'test/full/a.test.ts': row('', ''), 'test/a.test.ts': row('', '') },
    ],
  ])('reports: %s', (problem, ledger) => {
    const files = ['test/full/a.test.ts', 'test/a.test.ts'];
    expect(ledgerProblems(ledger, files, (name) => name === 'reconciler')).toEqual([problem]);
  });

  it('is written as it is formatted', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'ledger-'));
    const path = join(directory, 'ledger.json');
    writeLedger(readLedger(), path);
    expect(await readFile(path, 'utf8')).toBe(await readFile(join(import.meta.dirname, 'ledger.json'), 'utf8'));
    await rm(directory, { recursive: true });
  });
});

describe('the hash of a file', () => {
  let root: string;
  const hash = () => contentHash('a.test.ts', ['folder'], root);
  let before: string;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'hashed-'));
    await mkdir(join(root, 'folder/deep'), { recursive: true });
    for (const name of ['a.test.ts', 'other.ts', 'folder/deep/b.ts']) await writeFile(join(root, name), name);
    before = hash();
  });
  afterAll(() => rm(root, { recursive: true }));

  it.each([
    ['it changes', 'a.test.ts', 'another test', true],
    ['a file that it proves changes', 'folder/deep/b.ts', 'other code', true],
    ['a file is added to a folder that it proves', 'folder/c.ts', '', true],
    ['something else changes', 'other.ts', 'other', false],
    ['a page changes', 'folder/README.md', 'Words.', false],
  ])('when %s', async (_what, name, content, isOther) => {
    const old = await readFile(join(root, name), 'utf8').catch(() => undefined);
    await writeFile(join(root, name), content);
    expect(hash() !== before).toBe(isOther);
    await (old === undefined ? rm(join(root, name)) : writeFile(join(root, name), old));
    expect(hash()).toBe(before);
  });
});

describe('stale files', () => {
  const ledger = {
    'b-never': row('', ''),
    'a-never': row('', ''),
    'new-change': row('1', '2026-11-27'),
    'old-change': row('1', '2026-11-02'),
    same: row('1', '2026-11-01'),
  };
  const hashes = new Map(Object.keys(ledger).map((file) => [file, file === 'same' ? '1' : '2']));

  it('are those that were never green, then the oldest', () => {
    expect(staleFiles(ledger, hashes)).toEqual(['a-never', 'b-never', 'old-change', 'new-change']);
  });

  const real = (name: string) => `test/full/cluster/${name}.test.ts`;
  const durations = {
    [real('a')]: 100,
    [real('b')]: 500,
    [real('c')]: 60,
    [real('d')]: 100,
    'test/soak/s.test.ts': 200,
  };
  it.each<[budget: string, seconds: number, chosen: readonly string[]]>([
    ['nothing fits', 110, []],
    ['only the shortest', 130, [real('c')]],
    ['a, and c, which is shorter than b', 160, [real('a'), real('c')]],
    ['all', 560, [real('a'), real('b'), real('c')]],
  ])('within a budget: %s', (_what, seconds, chosen) => {
    expect(fitting([real('a'), real('b'), real('c')], durations, seconds)).toEqual(chosen);
  });

  it.each<[what: string, files: readonly string[], seconds: number]>([
    ['two lanes run side by side', [real('a'), 'test/full/system/new.test.ts'], 60 + 180],
    ['one lane runs two at a time', [real('a'), real('c'), real('d')], 60 + 130],
    ['the longest one', [real('a'), real('b')], 60 + 500],
    ['pure files use both processors', ['test/full/tools/release/new.test.ts'], 60 + 90],
    ['soak files run alone', [real('a'), 'test/soak/s.test.ts'], 60 + 100 + 200],
  ])('take as long as expected: %s', (_what, files, seconds) => {
    expect(expectedSeconds(files, durations)).toBe(seconds);
  });
});

describe('after a run', () => {
  const ledger = { ran: row('1', '2026-11-01'), other: row('1', '2026-11-01') };
  const hashes = new Map([
    ['ran', '2'],
    ['other', '2'],
  ]);
  const result = { file: 'ran', tests: 2, passed: 2, failures: [] };
  const report = (ran: FileResult, ...unhandled: string[]): RunResult => ({ files: [ran], unhandled });
  const failed = { ...result, passed: 1, failures: [{ what: 'one', reason: 'no' }] };
  it.each<[what: string, reports: readonly RunResult[], expected: Row]>([
    ['a green file', [report(result)], row('2', '2026-11-28')],
    ['a failed test', [report(failed)], ledger.ran],
    ['a file that passed alone', [report(failed), report(result)], row('2', '2026-11-28')],
    ['a failed hook after all tests', [report({ ...result, failures: failed.failures })], ledger.ran],
    ['a test that was left out', [report({ ...result, passed: 1 })], ledger.ran],
    ['a file without tests', [report({ ...result, tests: 0, passed: 0 })], ledger.ran],
    ['an error outside of all files of its run', [report(result, 'late')], ledger.ran],
    ['such an error when it ran alone', [report(failed), report(result, 'late')], ledger.ran],
  ])('%s', (_what, reports, expected) => {
    expect(withGreen(ledger, reports, { hashes, day: '2026-11-28' })).toEqual({ ran: expected, other: ledger.other });
  });
});
