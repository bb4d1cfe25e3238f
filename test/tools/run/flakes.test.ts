import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Needles } from '../../support/output-scan.ts';
import { type Flake, flakeOf, openFlakes, readFlakes, refusalOf, withFlake } from './flakes.ts';

const repository = join(import.meta.dirname, '../../..');
const needles = new Needles();
needles.add('the Secret keys', 'a-secret-of-a-test-that-is-long');
const when = { day: '2026-11-28', commit: '1234', needles };
const failed = (reason: string) => ({ file: 'a', tests: 1, passed: 0, failures: [{ what: 'serves', reason }] });
const flake: Flake = flakeOf(failed('timed out\nafter 60 s'), when);

describe('the row of a file that failed once', () => {
  it('has the reason, and what was said', () => {
    expect(flake).toEqual({
      file: 'a',
      day: '2026-11-28',
      commit: '1234',
      times: 1,
      reason: 'timed out',
      output: 'serves\ntimed out\nafter 60 s',
    });
  });

  it('has the start and the end of a long output', () => {
    const { output } = flakeOf(failed(`${'x'.repeat(9_000)}end`), when);
    expect(output.length).toBeLessThan(6_100);
    expect(output).toMatch(/^serves\nx+\n\(…\)\nx+end$/);
  });

  it('has no secret, and no path of the machine', () => {
    const secret = flakeOf(failed('token a-secret-of-a-test-that-is-long refused'), when);
    expect(JSON.stringify(secret)).not.toContain('a-secret-of-a-test');
    expect(secret.output).toBe('left out, because it contains the Secret keys');
    const frames = `late\n at ${repository}/test/a.ts:1\n at /elsewhere/node_modules/x.js:1`;
    expect(flakeOf(failed(frames), when).output).toBe('serves\nlate\n at test/a.ts:1');
  });
});

describe('rows', () => {
  const closed = { ...flake, cause: 'the test read the list before the watch had begun' };

  it('count how often an open one is seen, and begin at one after its cause was removed', () => {
    expect(withFlake([flake], { ...flake, day: '2026-11-29' })).toEqual([{ ...flake, day: '2026-11-29', times: 2 }]);
    expect(withFlake([closed], flake)).toEqual([closed, flake]);
    expect(withFlake([flake], { ...flake, file: 'b' })).toHaveLength(2);
  });

  it.each<[what: string, rows: readonly Flake[], files: readonly string[]]>([
    ['there is none', [], []],
    ['all have a cause', [closed], []],
    ['one is open', [closed, flake], ['a']],
  ])('refuse a release unless %s', (_what, rows, files) => {
    expect(openFlakes(rows).map(({ file }) => file)).toEqual(files);
    expect(refusalOf(rows) === undefined).toBe(files.length === 0);
  });

  it('of the repository name the cause in a sentence where they are closed', () => {
    const short = readFlakes().filter(({ cause = 'not known yet, because it is open' }) => cause.length <= 20);
    expect(short).toEqual([]);
  });
});
