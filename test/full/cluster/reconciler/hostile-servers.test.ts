import { expect, it } from 'vitest';
import { smokeExtent } from '../../../bench/extent.ts';
import { measureHostileServers } from '../../../bench/fleet/fleet.ts';

/**
 * The operator's bundle in a process of its own, with the heap that it has in its pod. Half of the hosted API servers answer each request
 * with a bomb.
 */
it('the operator lives, and takes no more than 400 MiB, while hosted API servers answer with the worst that they can send', async () => {
  const figures = await measureHostileServers(smokeExtent);
  const valueOf = (name: RegExp) => figures.find((figure) => name.test(figure.name))?.value;
  expect(valueOf(/answers of/)).toBeGreaterThan(20);
  expect(valueOf(/ends of the operator/)).toBe(0);
  expect(valueOf(/memory of the operator at most/)).toBeLessThan(400);
});
