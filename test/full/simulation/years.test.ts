import { expect, it } from 'vitest';
import { Simulation } from '../../simulation/simulation.ts';
import { longestOutageMs, print, rotationsOf } from '../../simulation/years.ts';

it('certificates survive age-based and requested rotations of each CA within 25 years, with long outages of the operator', async () => {
  const outcome = await new Simulation({ seed: 4, years: 25, longestOutageMs, requests: 2 }).run();
  print('25 years with requests', outcome);

  expect(outcome.failures).toEqual([]);
  for (const secret of ['c1-ca', 'c1-etcd', 'c1-proxy']) expect(rotationsOf(outcome, secret)).toBeGreaterThanOrEqual(3);
  expect(rotationsOf(outcome, 'c1-sa')).toBeGreaterThanOrEqual(1);
});
