import { expect, it } from 'vitest';
import { KubeError } from '../../../reconciler/kube/errors.ts';
import { untilAnswering } from '../../../reconciler/operator/connected-operator.ts';
import { createLogger } from '../../../reconciler/engine/log.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const failed = (code: number, reason: string) => new KubeError(`get /version: ${reason}`, { code, reason });

/** Asks a server that answers so, one after the other, and at last with its version. */
async function asked(answers: readonly Error[]) {
  const clock = new ManualClock();
  const start = clock.elapsed();
  const lines: string[] = [];
  const left = [...answers];
  const raw = async (): Promise<string> => {
    const error = left.shift();
    if (error) throw error;
    return '{}';
  };
  const log = createLogger({ format: 'text', level: 'info' }, { write: (line) => lines.push(line) });
  let takenMs: number | undefined;
  const done = untilAnswering({ raw }, clock, log).then(() => (takenMs = clock.elapsed() - start));
  await clock.advance(60_000);
  await done;
  return { takenMs, lines: lines.length };
}

it.each<[string, readonly Error[], number, number]>([
  ['answers', [], 0, 0],
  ['refuses', [failed(403, 'Forbidden')], 0, 0],
  ['knows no credentials of the operator', [failed(401, 'Unauthorized')], 0, 0],
  ['is away for a moment', [failed(0, 'Unreachable')], 250, 2],
  ['starts', [failed(0, 'Unreachable'), failed(503, 'ServiceUnavailable'), failed(429, 'TooManyRequests')], 1_750, 2],
  ['is away for long', Array.from({ length: 9 }, () => failed(0, 'Timeout')), 27_750, 2],
])('an operator that starts when the API server %s waits as long as that', async (_, answers, takenMs, lines) => {
  expect(await asked(answers)).toEqual({ takenMs, lines });
});

it('an operator whose credentials cannot be read ends, and says why', async () => {
  const unreadable = failed(0, 'Unauthenticated');
  expect(await asked([unreadable])).toEqual({ takenMs: 0, lines: 0 });
});
