import { describe, expect, it } from 'vitest';
import { dayMs, Simulation } from './simulation.ts';
import { expectNoNeedlessRestarts, longestOutageMs, rotationsOf, print, tenYears } from './years.ts';

const limitMs = 20 * 60_000;

describe('certificates over the years, with an operator that is down for up to four months at a time', () => {
  it('never expire and always verify in ten years without any action', { timeout: limitMs }, async () => {
    const outcome = await tenYears(1);
    expect(outcome.failures).toEqual([]);
    expectNoNeedlessRestarts(outcome);
  });

  it('survive age-based and requested rotations of each CA within 25 years', { timeout: limitMs }, async () => {
    const outcome = await new Simulation({ seed: 4, years: 25, longestOutageMs, requests: 2 }).run();
    print('25 years with requests', outcome);

    expect(outcome.failures).toEqual([]);
    for (const secret of ['c1-ca', 'c1-etcd', 'c1-proxy'])
      expect(rotationsOf(outcome, secret)).toBeGreaterThanOrEqual(3);
    expect(rotationsOf(outcome, 'c1-sa')).toBeGreaterThanOrEqual(1);
  });

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
