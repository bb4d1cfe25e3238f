import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { limitedText } from '../../../../reconciler/backup/store/answer-limit.ts';

/** An answer in pieces, as they come from a connection. */
function inPieces(text: string, length = 16_384): Readable {
  const count = Math.ceil(text.length / length);
  return Readable.from(
    Array.from({ length: count }, (_, at) => Buffer.from(text.slice(at * length, (at + 1) * length))),
  );
}

// The parser takes three seconds and two hundred megabytes for two million characters of one text.
describe('an answer', () => {
  it.each([
    ['a list', `<r>${'<Key>some/key/of/a/thousand</Key>'.repeat(40_000)}</r>`],
    ['a long session token', `<Credentials><SessionToken>${'x'.repeat(30_000)}</SessionToken></Credentials>`],
  ])('that is %s is read', async (_, text) => {
    expect(await limitedText(inPieces(text))).toBe(text);
  });

  it.each([
    ['blanks', `<Credentials><SessionToken>${' '.repeat(200_000)}</SessionToken></Credentials>`],
    ['digits after many elements', `<r>${'<a/>'.repeat(50_000)}<Expiration>${'9'.repeat(200_000)}`],
    ['no XML', 'x'.repeat(200_000)],
  ])('with one long text of %s is not', async (_, text) => {
    await expect(limitedText(inPieces(text))).rejects.toThrow('the answer is no XML of a store');
  });
});
