import { expect, it } from 'vitest';
import { clock, laneSummary, processorSummary } from './summary.ts';

it('a lane lists its longest files first, and the sum of all', () => {
  const times = [
    { file: 'short.test.ts', wallSeconds: 2.2, waitedSeconds: 3, processorSeconds: 1 },
    { file: 'long.test.ts', wallSeconds: 61, waitedSeconds: 9, processorSeconds: 30.4 },
  ];
  expect(laneSummary(times)).toEqual([
    '2 files took 63 s, 31 s of them processor time of their own, and waited 12 s for room',
    '   61 s    30 s of a core  long.test.ts',
    '    2 s     1 s of a core  short.test.ts',
  ]);
});

it('the share of idle time is that of all cores', () => {
  const byProgram = { 'kube-apiserver': 90.4, node: 59.6, other: 0.2 };
  expect(processorSummary({ wallSeconds: 100, cores: 2, busySeconds: 150, byProgram })).toEqual([
    '1 min 40 s on 2 cores: 150 core-seconds of work, 25 % idle',
    '   90 core-seconds  kube-apiserver',
    '   60 core-seconds  node',
    '    0 core-seconds  other',
  ]);
});

it('durations are formatted as minutes and seconds', () => {
  expect([clock(59.6), clock(3_725)]).toEqual(['1 min 0 s', '62 min 5 s']);
});
