import { expect, it } from 'vitest';
import type { Flake } from '../run/flakes.ts';
import { whyUnproved } from './proof.ts';

const row = (hash: string, green: string) => ({ proves: ['reconciler'], hash, green });
const ledger = { new: row('', ''), changed: row('1', '2026-11-20'), same: row('2', '2026-11-20') };
const hashes = new Map(Object.keys(ledger).map((file) => [file, '2']));
const { same } = ledger;
const flake: Flake = { file: 'a.test.ts', day: '2026-11-28', commit: '1', times: 1, reason: 'late', output: 'late' };

it('a release is refused with the files that were not green for its sources', () => {
  const why = whyUnproved(ledger, hashes, []);
  expect(why).toMatch(/^2 test files were not green/);
  expect(why).toContain('new (green never)\n  changed (green 2026-11-20)');
});

it('a release is refused with an open row of a flake', () => {
  expect(whyUnproved({ same }, hashes, [flake])).toContain('open rows, of a.test.ts');
  expect(whyUnproved({ same }, hashes, [{ ...flake, cause: 'a watch began late' }])).toBeUndefined();
});
