import { expect, it } from 'vitest';
import { RecentUse } from '../../../reconciler/kube/recent-use.ts';

const minute = 60_000;

it('forgets half of a use in half a minute', () => {
  const use = new RecentUse();
  use.add('a', 8_000, 0);
  expect(use.of('a', minute / 2)).toBeCloseTo(4_000);
  use.add('a', 1_000, minute / 2);
  expect(use.of('a', minute)).toBeCloseTo(2_500);
  expect(use.of('b', 0)).toBe(0);
});

it('takes for much what is more than that of others on average, and not only a little', () => {
  const use = new RecentUse();
  use.add('a', 60_000, 0);
  expect(use.isMuch('a', 0)).toBe(false);
  use.add('b', 1_000, 0);
  expect(use.isMuch('a', 0)).toBe(true);
  expect(use.isMuch('b', 0)).toBe(false);
  expect(use.isMuch('a', 2 * minute)).toBe(false);
});

it('counts no group that has used nothing for long', () => {
  const use = new RecentUse();
  for (const group of ['b', 'c', 'd']) use.add(group, 100, 0);
  use.add('a', 60_000, 10 * minute);
  expect(use.isMuch('a', 10 * minute)).toBe(false);
});
