import { expect, it } from 'vitest';
import { likeText } from './like-text.ts';

const printed = 'Cluster   team-a/prod\nVersion   v1.37.1\n\nNot Ready for 12s: it waits\n  next: hcp\n';

it.each([
  ['Cluster team-a/prod\n…', true],
  ['…\nNot Ready for …: it waits\n…', true],
  ['Cluster team-a/prod\n…\n next: hcp', true],
  ['Cluster team-a/prod\n…\nReady', false],
  ['Version v1.37.1\n…', false],
  ['Cluster team-a/prod\nVersion v1.37.1', false],
  ['…\nNot Ready for …: it waits', false],
])('%j is like what is printed: %s', (shown, isLike) => expect(likeText(shown).test(printed)).toBe(isLike));
