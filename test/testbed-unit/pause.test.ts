import { expect, test } from 'vitest';
import { pauseMs } from '../testbed/progress.ts';

test.each<[what: string, waitedMs: number, probeMs: number, pause: number]>([
  ['a short wait pauses shortly', 100, 1, 50],
  ['a long wait pauses a second, not a twentieth of it', 600_000, 1, 1_000],
  [
    'a probe of half a second is followed by four times its duration, to leave the processors to others',
    1_000,
    500,
    2_000,
  ],
  ['a probe that waited for an answer in vain is not followed by a longer wait', 10_000, 5_000, 5_000],
])('%s', (_what, waitedMs, probeMs, pause) => {
  const now = 1_000_000;
  expect(pauseMs({ shortestMs: 50, start: now - waitedMs, begun: now - probeMs }, now)).toBe(pause);
});
