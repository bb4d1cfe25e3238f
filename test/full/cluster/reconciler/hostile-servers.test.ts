import { beforeAll, expect, it } from 'vitest';
import { smokeExtent } from '../../../tools/bench/extent.ts';
import type { Figure } from '../../../tools/bench/figure.ts';
import { measureHostileServers } from '../../../tools/bench/fleet/fleet.ts';

/**
 * The operator's bundle in a process of its own, with the heap that it has in its pod. The API servers, etcds, backup stores and token
 * services of half of the clusters answer requests with bombs.
 */
let figures: readonly Figure[];
beforeAll(async () => {
  figures = await measureHostileServers(smokeExtent);
});

function valueOf(name: string): number | undefined {
  return figures.find((figure) => figure.name.includes(name))?.value;
}

it('the operator lives and leads, and takes no more than 400 MiB, while servers answer with the worst that they can send', () => {
  expect(valueOf('ends of the operator')).toBe(0);
  expect(valueOf('lost leases')).toBe(0);
  expect(valueOf('memory of the operator at most')).toBeLessThan(400);
});

it('good control planes have their backups meanwhile', () => {
  expect(valueOf('oldest newest backup')).toBeLessThan(120);
});

it.each([
  ['answers of API servers', 20],
  ['answers of their etcds', 2],
  ['answers of their backup stores', 2],
  ['answers of their token services', 2],
  ['changes by their administrators', 100],
])('there are %s, at least %i', (name, least) => {
  expect(valueOf(name)).toBeGreaterThanOrEqual(least);
});
