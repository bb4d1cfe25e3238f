import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { describe, expect, it } from 'vitest';
import { renderDistribution } from '../constructs/distribution.ts';
import { readSampleFiles } from '../constructs/sample-files.ts';

const dist = join(import.meta.dirname, '../dist');
const files = renderDistribution(await readSampleFiles());

/** A header that says what the file is and what writes it, also below a branch of a chart's template. */
const isAnnounced = /^(\{\{-.*\n)?# .+\n(# .+\n)*# Written by `npm run synth`/;

describe('dist', () => {
  it.each(files.map(({ path, content }) => [path, content]))(
    'contains %s as the constructs render it',
    async (path, content) => {
      await expect(content).toMatchFileSnapshot(join(dist, path));
    },
  );

  it('contains nothing else', async () => {
    const entries = await readdir(dist, { recursive: true, withFileTypes: true });
    const present = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    expect(present.sort()).toEqual(files.map(({ path }) => join(dist, path)).sort());
  });

  it.each(files.map(({ path, content }) => [path, content]))(
    'has %s without YAML features that are hard to read',
    (path, content) => {
      // Templates of charts become YAML when Helm renders them, and .helmignore has patterns.
      const documents = /\/templates\/|\.helmignore$/.test(path) ? [] : parseAllDocuments(content);
      expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
      // An anchor would refer to a part elsewhere in the file.
      expect(content).not.toMatch(/[:-] [&*]a\d/);
      // JSON has no comments.
      expect(path.endsWith('.json') || isAnnounced.test(content)).toBe(true);
      expect(content.endsWith('\n')).toBe(true);
    },
  );
});
