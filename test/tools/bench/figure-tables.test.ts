import { expect, it } from 'vitest';
import { blockIn } from '../../support/readme-block.ts';
import { withResults } from './figure-tables.ts';
import { processParts, testbedParts } from './parts.ts';
import type { Result } from './result.ts';

const page = [...processParts, ...testbedParts]
  .map((part) => part.replaceAll('-', ' '))
  .map((name) => `<!-- ${name} --><!-- /${name} -->`)
  .join('\n');
const result: Result = {
  part: 'fleet',
  date: '2026-11-29',
  commit: 'abc',
  machine: { processor: 'P', cores: 2, memoryGiB: 24, node: 'v24.1.0' },
  coreSeconds: 90,
  extent: { clusters: 20, optimizeFor: 'auto' },
  figures: [
    { name: 'memory', value: 1234.5, unit: 'MiB', goal: { atMost: 900 } },
    { name: 'ours / theirs', value: 0.85, unit: 'ratio', goal: { atLeast: 0.8 } },
    { name: 'new', value: 3, unit: 's' },
  ],
};
const before: Result = {
  part: 'fleet',
  date: '2026-11-23',
  machine: { cores: 2 },
  extent: result.extent,
  figures: [{ name: 'memory', value: 12.345, unit: 'MiB' }],
};
const fleet = (...kept: Result[]) => blockIn(withResults(page, kept), 'fleet').trim();

it('a page has the last result of a part, the one before, and where each was measured', () => {
  expect(fleet(before, result)).toBe(
    [
      '`npm run bench -- --only fleet --clusters 20 --optimize-for auto`: measured on 2026-11-29, at abc, on 2 cores (P), 24 GiB, Node v24.1.0, 90 core-seconds; before on 2026-11-23, on 2 cores.',
      '',
      '| figure | before | measured | goal |',
      '| --- | --- | --- | --- |',
      '| memory | 12.35 MiB | **1,235 MiB, goal missed** | at most 900 |',
      '| ours / theirs |  | 0.85 | at least 0.8 |',
      '| new |  | 3 s |  |',
    ].join('\n'),
  );
});

it('results of other extents have tables of their own, without a result before', () => {
  const small = { ...before, extent: { clusters: 2, optimizeFor: 'auto' } };
  expect(fleet(small, result).match(/^\| figure \| measured \| goal \|$/gm)).toHaveLength(2);
});

it('a part that was never measured says so', () => {
  expect(blockIn(withResults(page, [result]), 'control planes').trim()).toBe('No result has been kept yet.');
});
