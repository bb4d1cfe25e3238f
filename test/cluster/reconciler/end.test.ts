import { expect, test } from 'vitest';
import { borrow } from '../../support/lent/borrow.ts';

/** What began with `life`. */
const bench = borrow('plain', { forGood: true });

test('with the rights of an installation for its namespace a control plane that others have used is gone after its deletion', async () => {
  await bench.delete('c1');
  expect(await bench.everything()).toEqual([]);
  expect(bench.operator.requests.filter(({ code }) => code === 401 || code === 403)).toEqual([]);
});
