import { describe, expect, it } from 'vitest';
import { dayMs, Simulation } from './simulation.ts';
import { expectNoNeedlessRestarts, print, rotationsOf, tenYears } from './years.ts';

const limitMs = 20 * 60_000;

describe('certificates over the years, with an operator that is down for up to four months at a time', () => {
  it('never expire and always verify in ten years without any action', { timeout: limitMs }, async () => {
    const outcome = await tenYears(1);
    expect(outcome.failures).toEqual([]);
    expectNoNeedlessRestarts(outcome);
  });

  it(
    'never expire, and none is issued by a wrong clock, while that of the operator jumps by an hour or a year',
    { timeout: limitMs },
    async () => {
      const outcome = await tenYears(1, { jumps: true });
      expect(outcome.jumps).toBeGreaterThan(30);
      expect(outcome.issuedByWrongClock).toBe(0);
      expect(outcome.failures).toEqual([]);
      expectNoNeedlessRestarts(outcome);
    },
  );

  it.each([
    ['of a month', { rootCaCertificateDuration: '8760h', leafCertificateDuration: '720h' }, 10 * dayMs, 1],
    [
      'of a day',
      {
        rootCaCertificateDuration: '720h',
        caCertificateDuration: '360h',
        leafCertificateDuration: '24h',
        shortLived: true,
      },
      dayMs / 3,
      0.06,
    ],
  ])(
    'stay valid with lifetimes %s and an operator that is down for a third of them',
    { timeout: limitMs },
    async (_, certificates, longest, years) => {
      const outcome = await new Simulation({ seed: 5, years, longestOutageMs: longest, certificates }).run();
      print(`lives ${JSON.stringify(certificates)}`, outcome);

      expect(outcome.failures).toEqual([]);
      expect(rotationsOf(outcome, 'c1-ca')).toBeGreaterThanOrEqual(1);
    },
  );
});
