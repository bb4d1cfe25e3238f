import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Conducts } from '../../../../reconciler/reconcile/quarantine/judge.ts';
import { type Notes, openNotes } from '../../../../reconciler/reconcile/quarantine/notes.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'notes-'));
});
afterEach(() => rm(directory, { recursive: true }));

/** What a process that is killed after this leaves to the next one. */
function leftAfter(work: (notes: Notes) => void) {
  work(openNotes(directory).notes);
  return openNotes(directory).left;
}

describe('the process after one that was killed', () => {
  it('knows what that had in hand', () => {
    const { inHand } = leftAfter((notes) => {
      const release = notes.take('a/ended');
      notes.take('a/open');
      release();
      notes.take('a/upload', true);
      notes.take('a/ended-last')();
    });
    expect(inHand).toHaveLength(2);
    expect(inHand).toEqual(
      expect.arrayContaining([
        { key: 'a/open', isTask: false },
        { key: 'a/upload', isTask: true },
      ]),
    );
  });

  it('knows it of work that has begun twice and ended once', () => {
    const { inHand } = leftAfter((notes) => {
      const release = notes.take('a/twice');
      notes.take('a/twice');
      release();
    });
    expect(inHand).toEqual([{ key: 'a/twice', isTask: false }]);
  });

  it('knows of which hosted cluster that has read last', () => {
    const { inHand } = leftAfter((notes) => {
      notes.take('a/upload', true);
      notes.touch('a/first');
      notes.touch('a/last');
      notes.touch('a/upload');
    });
    expect(inHand).toEqual([{ key: 'a/upload', isTask: false }]);
  });

  it('knows it of as many as the directory has room for', () => {
    const { inHand } = leftAfter((notes) => {
      const releases = Array.from({ length: 2_049 }, (_, index) => notes.take(`a/${index}`));
      releases.at(-1)?.();
      releases[0]?.();
      notes.take('a/next');
    });
    expect(inHand).toHaveLength(2_047);
    expect(inHand).toContainEqual({ key: 'a/next', isTask: false });
  });

  it('knows it of the longest names', () => {
    const keys = ['h', 'i'].map((letter) => `${'n'.repeat(63)}/${letter.repeat(253)}`);
    const { inHand } = leftAfter((notes) => keys.forEach((key) => void notes.take(key)));
    expect(inHand).toEqual(keys.map((key) => ({ key, isTask: false })));
  });

  it('knows what that has kept', () => {
    const conducts: Conducts = { a: { ends: [1], apart: 'hosted', faults: 2, retryAt: 3, changedAt: 4 } };
    expect(leftAfter((notes) => notes.keep(conducts)).conducts).toEqual(conducts);
  });

  it('begins with a new page', () => {
    leftAfter((notes) => notes.take('a/a'));
    expect(openNotes(directory).left.inHand).toEqual([]);
  });
});

it.each(['', 'half a fi', '{"a":{}}', '[]'])('of a file with %j nothing is known', async (text) => {
  await writeFile(join(directory, 'conducts.json'), text);
  expect(openNotes(directory).left.conducts).toEqual({});
});

it('a process that has ended as it should leaves nothing, whatever it still had in hand', () => {
  const { inHand } = leftAfter((notes) => {
    notes.take('a/a');
    notes.close();
    notes.take('a/b');
  });
  expect(inHand).toBeUndefined();
});

it('the first process finds nothing', () => {
  expect(openNotes(directory).left).toEqual({ inHand: undefined, conducts: {} });
});
