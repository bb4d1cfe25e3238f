import { expect, it } from 'vitest';
import { fleetFrom, Heap, heapFlags } from '../../../reconciler/operator/heap.ts';

it.each([
  ['auto', 0, []],
  ['auto', fleetFrom - 1, []],
  ['auto', fleetFrom, ['--no-optimize-for-size', '--heap-growing-percent=30']],
  ['size', 1_000, []],
  ['speed', 0, ['--no-optimize-for-size']],
] as const)('optimized for %s, a heap of %d control planes has the flags %j', (optimizeFor, controlPlanes, flags) => {
  expect(heapFlags(optimizeFor, controlPlanes)).toEqual(flags);
});

it('lets the heap grow when the fleet does, once', () => {
  const set: string[] = [];
  const heap = new Heap('auto', (flag) => set.push(flag));
  for (let count = 0; count < 3 * fleetFrom; count++) heap.fit(() => count);
  expect(set).toEqual(heapFlags('auto', fleetFrom));
  // A fleet that shrinks keeps what it has.
  heap.fit(() => 0);
  expect(set).toHaveLength(2);
});
