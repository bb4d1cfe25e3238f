import { describe, expect, it } from 'vitest';
import { dayMs, type Outcome, Simulation } from './simulation.ts';

const seeds = (process.env['HCP_SEEDS'] ?? '1,2,3').split(',').map(Number);
/** Four months. */
const longestOutageMs = 121 * dayMs;
const limitMs = 20 * 60_000;

/** How many pods were replaced for this, by whatever else beside it. */
function restartsOf({ restarts }: Outcome, component: string, cause?: string): number {
  const rows = [...restarts].filter(([row]) => row.startsWith(`${component}: `) && row.includes(cause ?? ''));
  return rows.reduce((sum, [, count]) => sum + count, 0);
}

/** Successors that were made, each once: rotations. */
const rotationsOf = ({ rotations }: Outcome, secret: string) => rotations.get(secret) ?? 0;

function tell(what: string, outcome: Outcome): void {
  const { passes, proofs, daysWithoutOperator, restarts, rotations } = outcome;
  const list = (counts: ReadonlyMap<string, number>) =>
    [...counts].toSorted(([a], [b]) => a.localeCompare(b, 'en')).map(([row, count]) => `  ${count} ${row}`);
  console.log(
    [
      `${what}: ${passes} passes, ${proofs} proofs, ${daysWithoutOperator} days without an operator`,
      'pods replaced:',
      ...list(restarts),
      'rotations:',
      ...list(rotations),
    ].join('\n'),
  );
}

describe('certificates over the years, with an operator that is away for up to four months at a time', () => {
  it.each(seeds)(
    'never expire and always verify in ten years, by themselves (seed %d)',
    { timeout: limitMs },
    async (seed) => {
      const years = 10;
      const outcome = await new Simulation({ seed, years, longestOutageMs }).run();
      tell(`10 years, seed ${seed}`, outcome);

      expect(outcome.failures).toEqual([]);
      expect(outcome.daysWithoutOperator).toBeGreaterThan(365);
      for (const secret of ['c1-ca', 'c1-etcd', 'c1-proxy']) expect(rotationsOf(outcome, secret)).toBe(1);
      // Each of three members reads whom to trust at its start, when the next one is added and when the old one goes.
      expect(restartsOf(outcome, 'etcd')).toBe(3 * 2);
      // The konnectivity server reads its pair at its start, and that is renewed every half a year; beside that both
      // authorities that API servers read at their start change twice, and those pods may be new for another reason then.
      expect(restartsOf(outcome, 'api-server', 'c1-konnectivity-server')).toBeLessThanOrEqual(2 * (2 * years + 1));
      expect(restartsOf(outcome, 'api-server')).toBeLessThanOrEqual(2 * (2 * years + 1 + 2 * 2));
      // It publishes the cluster's authorities, which it reads at its start.
      expect(restartsOf(outcome, 'controller-manager')).toBe(2);
      expect(restartsOf(outcome, 'scheduler')).toBe(0);
    },
  );

  it(
    'go on when each authority is rotated by its age and on request within 25 years',
    { timeout: limitMs },
    async () => {
      const outcome = await new Simulation({ seed: 4, years: 25, longestOutageMs, requests: 2 }).run();
      tell('25 years with requests', outcome);

      expect(outcome.failures).toEqual([]);
      for (const secret of ['c1-ca', 'c1-etcd', 'c1-proxy'])
        expect(rotationsOf(outcome, secret)).toBeGreaterThanOrEqual(3);
      expect(rotationsOf(outcome, 'c1-sa')).toBeGreaterThanOrEqual(1);
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
    'go on when they have lives %s and an operator is away for a third of that',
    { timeout: limitMs },
    async (_, certificates, longest, years) => {
      const outcome = await new Simulation({ seed: 5, years, longestOutageMs: longest, certificates }).run();
      tell(`lives ${JSON.stringify(certificates)}`, outcome);

      expect(outcome.failures).toEqual([]);
      expect(rotationsOf(outcome, 'c1-ca')).toBeGreaterThanOrEqual(1);
    },
  );
});
