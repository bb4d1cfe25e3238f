import { expect, it } from 'vitest';
import { markup } from '../../../../reconciler/cli/report/markup.ts';

it.each([
  ['an element', '<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
  ['the end of an attribute', `" onload="x' y`, '&quot; onload=&quot;x&#39; y'],
  ['an entity', '&lt;', '&amp;lt;'],
  ['what XML forbids', 'a\u0000b\u001Bc\uFFFE', 'a\uFFFDb\uFFFDc\uFFFD'],
  ['half a character', 'a\uD800', 'a\uFFFD'],
  ['what turns the text around', 'a\u202Eb\u2066c', 'a\uFFFDb\uFFFDc'],
  ['lines', 'a\nb\tc', 'a b c'],
])('%s is text', (_, text, expected) => {
  expect(markup`<p title="${text}">${text}</p>`.text).toBe(`<p title="${expected}">${expected}</p>`);
});

it('markup, numbers and lists are kept, and what is absent is nothing', () => {
  expect(markup`${[1, markup`<b>${'&'}</b>`, undefined]}${undefined}`.text).toBe('1<b>&amp;</b>');
});

it('a text of a cluster is cut', () => {
  expect(markup`${'&'.repeat(40_000)}`.text).toBe(`${'&amp;'.repeat(1500)}…`);
});
