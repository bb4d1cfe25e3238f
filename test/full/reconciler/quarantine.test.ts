import { afterEach, describe, expect, it } from 'vitest';
import { AttendedFleet } from '../../support/quarantine/attended-fleet.ts';
import type { Fault } from '../../support/quarantine/faulty-operator.ts';
import { until } from '../../support/until.ts';

let fleet: AttendedFleet;
afterEach(() => fleet.stop());

/** How the process may end: one that allocates on a busy machine stands still before its heap is full. */
const endsOf = {
  allocates: ['SIGABRT', 'SIGKILL'],
  loops: ['SIGKILL'],
  aborts: ['SIGABRT'],
} as const satisfies Record<Fault, readonly string[]>;

describe.each<Fault>(['allocates', 'loops', 'aborts'])('work for one of 51 control planes that %s', (fault) => {
  it('costs two restarts, after which the others are attended to', async () => {
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
    const ratio = (latestMs / restartsMs).toFixed(2);
    console.log(
      `${fault}: others were late by ${ratio} times what two restarts without a fault cost (${restartsMs} ms)`,
    );
    expect(fleet.ends).toHaveLength(2);
    expect(endsOf[fault]).toEqual(expect.arrayContaining(fleet.ends));

    await fleet.heal();
    await until('the quarantine to end', async () => fleet.quarantined?.status === 'False', 120_000);
    // One that was in hand twice by chance has behaved by then, too.
    await until('the others to be free', async () => fleet.wronglyQuarantined.length === 0, 120_000);
    expect(fleet.ends).toHaveLength(2);
  });
});
