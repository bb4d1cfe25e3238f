import { expect, it } from 'vitest';
import { ManualClock } from './manual-clock.ts';

it('waits for what threads compute for WebCrypto before the next timer fires', async () => {
  const clock = new ManualClock(0);
  const seen: string[] = [];
  clock.setTimer(1, () => {
    void (async () => {
      for (const part of ['first', 'second']) {
        await crypto.subtle.digest('SHA-256', Buffer.from(part));
        seen.push(part);
      }
    })();
  });
  clock.setTimer(2, () => void seen.push('timer'));
  await clock.advance(2);
  expect(seen).toEqual(['first', 'second', 'timer']);
});
