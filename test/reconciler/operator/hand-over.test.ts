import { expect, it } from 'vitest';
import { handOver } from '../../../reconciler/operator/hand-over.ts';
import { settled } from '../../support/manual-clock.ts';

it('an operator that stops releases the Lease when reconciles, background work and events have ended, and not before', async () => {
  const log: string[] = [];
  const endings: (() => void)[] = [];
  const slow = (what: string) => async (): Promise<void> => {
    log.push(`${what} stops`);
    await new Promise<void>((resolve) => endings.push(resolve));
    log.push(`${what} ended`);
  };
  const done = handOver({
    controller: { stop: slow('controller') },
    signer: { stop: slow('signer') },
    reconciler: { close: slow('work') },
    events: { flush: slow('events') },
    election: { stop: async () => void log.push('released') },
  });
  for (let step = 0; step < 4; step++) {
    await settled();
    expect(log).not.toContain('released');
    endings[step]?.();
  }
  await done;
  const stopped =
    'controller stops, controller ended, signer stops, signer ended, work stops, work ended, events stops, events ended, released';
  expect(log.join(', ')).toBe(stopped);
});
