import { expect, test } from 'vitest';
import { changelog } from './changelog.ts';
import { identifierOf } from './identifier.ts';
import { provenance } from './provenance.ts';
import { requireKept } from './source.ts';

const source = {
  commit: 'abc',
  date: '2026-11-26T10:00:00.000Z',
  previous: 'v0.1.0',
  changes: ['Say why a pod waits', 'Sleep and wake'],
};

test('the changelog has the commits since the release before, by the date of the last one', () => {
  expect(changelog('0.2.0', source)).toBe(
    '# v0.2.0, 2026-11-26\n\nChanges since v0.1.0:\n\n* Say why a pod waits\n* Sleep and wake\n',
  );
});

test('the first release has no list of everything that came before it', () => {
  expect(changelog('0.1.0', { ...source, previous: undefined })).toBe('# v0.1.0, 2026-11-26\n\nThe first release.\n');
});

test('an identifier depends on the content alone, and is a UUID of version 8', () => {
  expect(identifierOf('a')).toBe(identifierOf('a'));
  expect(identifierOf('a')).not.toBe(identifierOf('b'));
  expect(identifierOf('a')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('the provenance names the commit, the files and no other time than that of the commit', () => {
  const subject = [{ name: 'hcp.mjs', digest: { sha256: '00' } }];
  expect(JSON.parse(provenance('0.2.0', source, subject))).toMatchObject({
    predicateType: 'https://slsa.dev/provenance/v1',
    subject,
    predicate: {
      buildDefinition: { resolvedDependencies: [{ digest: { gitCommit: 'abc' } }] },
      runDetails: { metadata: { finishedOn: source.date } },
    },
  });
});

test('a release is refused while the files of its release revision can still change', () => {
  const sums = `${'0'.repeat(64)}  3/images.json\n`;
  expect(() => requireKept(sums, 3)).not.toThrow();
  expect(() => requireKept(sums, 4)).toThrow('the files of release revision 4 can still change');
});
