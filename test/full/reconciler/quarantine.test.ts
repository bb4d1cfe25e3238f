import { afterEach, describe, expect, it } from 'vitest';
import { AttendedFleet } from '../../support/quarantine/attended-fleet.ts';
import type { Fault } from '../../support/quarantine/faulty-operator.ts';
import { until } from '../../support/until.ts';

let fleet: AttendedFleet;
afterEach(() => fleet.stop());

/** How the process ends, and how long that takes, until the heap is full or the thread has counted. */
const endOf = {
  allocates: { signal: 'SIGABRT', takesMs: 3_000 },
  loops: { signal: 'SIGKILL', takesMs: 2_500 },
  aborts: { signal: 'SIGABRT', takesMs: 0 },
} as const satisfies Record<Fault, object>;

describe.each<Fault>(['allocates', 'loops', 'aborts'])('work for one of 51 control planes that %s', (fault) => {
  it('costs two restarts, and the others no more than these', async () => {
    const { signal, takesMs } = endOf[fault];
    fleet = await AttendedFleet.start(50);
    // Two restarts without a fault, one right after the other, as the faulty ones.
    const restartsMs = await fleet.latestDuring(async () => {
      for (let ended = 1; ended <= 2; ended++) {
        fleet.kill();
        await until('the next process', async () => fleet.ends.length === ended);
        await fleet.untilLeading(ended + 1);
      }
      await fleet.untilAttended();
    });
    fleet.ends.length = 0;

    const latestMs = await fleet.latestDuring(async () => {
      await fleet.plant(fault);
      await until('a quarantine', async () => fleet.quarantined?.status === 'True', 120_000);
      await until('a trial to fail', async () => (await fleet.log()).includes('"hasBehaved":false'), 120_000);
      await fleet.untilAttended();
    });
    console.log(`${fault}: others were late by ${latestMs} ms, with two restarts ${restartsMs} ms`);
    expect(fleet.ends).toEqual([signal, signal]);
    expect(latestMs).toBeLessThan(2 * (restartsMs + 2 * takesMs));

    await fleet.heal();
    await until('the quarantine to end', async () => fleet.quarantined?.status === 'False', 120_000);
    // One that was in hand twice by chance has behaved by then, too.
    await until('the others to be free', async () => fleet.wronglyQuarantined.length === 0, 120_000);
    expect(fleet.ends).toHaveLength(2);
  });
});
