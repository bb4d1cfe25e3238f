import { expect, it } from 'vitest';
import { costOf, type RunCost, withRun, withRuns } from './runs.ts';

const file = { waitedSeconds: 5, wallSeconds: 61.4, processorSeconds: 9.6 };
const seconds = { wallSeconds: 61, coreSeconds: 10 };
const time = { wallSeconds: 99.6, cores: 2, busySeconds: 150.2, byProgram: { etcd: 90.4, node: 59.6, sh: 0.2 } };
const cost = costOf('2026-11-28', time, [
  { file: 'b', ...file },
  { file: 'a', ...file },
]);

it('what a run cost is told by program and by file, in whole seconds', () => {
  expect(JSON.stringify(cost)).toBe(
    JSON.stringify({
      day: '2026-11-28',
      wallSeconds: 100,
      cores: 2,
      coreSeconds: 150,
      byProgram: { etcd: 90, node: 60 },
      files: { a: { wallSeconds: 61, coreSeconds: 10 }, b: { wallSeconds: 61, coreSeconds: 10 } },
    }),
  );
});

it('only the last runs are kept', () => {
  const runs = [1, 2, 3, 4].reduce<readonly ReturnType<typeof costOf>[]>(
    (kept, day) => withRun(kept, { ...cost, day: String(day) }),
    [],
  );
  expect(runs.map(({ day }) => day)).toEqual(['2', '3', '4']);
});

it.each<[what: string, runs: readonly RunCost[], block: string]>([
  ['no run has been kept', [], 'None has been kept yet.'],
  [
    'runs have been kept',
    [{ ...cost, files: { 'test/system/a.test.ts': seconds, 'test/full/system/a.test.ts': seconds } }],
    '| day | files on real binaries | duration | core-seconds |\n| --- | --- | --- | --- |\n' +
      '| 2026-11-28 | 1 of push, 1 of full | 1 min 40 s | 150 of 200 |',
  ],
])('the page says what they cost: %s', (_what, runs, block) => {
  expect(withRuns('a <!-- runs -->old<!-- /runs --> b', runs)).toBe(`a <!-- runs -->\n\n${block}\n\n<!-- /runs --> b`);
});
