import { expect, it } from 'vitest';
import { expectNoNeedlessRestarts, tenYears } from '../simulation/years.ts';

const seeds = (process.env['HCP_SEEDS'] ?? '2,3,4,5,6,7,8,9,10').split(',').map(Number);

it.each(seeds)(
  'certificates never expire and always verify in ten years, without any action (seed %d)',
  { timeout: 20 * 60_000 },
  async (seed) => {
    const outcome = await tenYears(seed);
    expect(outcome.failures).toEqual([]);
    expectNoNeedlessRestarts(outcome);
  },
);
