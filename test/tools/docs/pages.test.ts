import { existsSync, globSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  anchorsOf,
  filesNamedIn,
  isInRepository,
  isReplayedBy,
  linksOf,
  readPages,
  repository,
  sectionOf,
  treeOf,
} from '../../support/pages.ts';

const pages = await readPages();
const anchors = new Map(pages.map((page) => [page.path, anchorsOf(page)]));

/** What a relative link lacks; undefined for one that leads somewhere. */
function missing(from: string, target: string): string | undefined {
  const [path = '', anchor] = target.split('#');
  const to = path === '' ? from : relative(repository, join(repository, dirname(from), decodeURI(path)));
  if (!existsSync(join(repository, to))) return `${target}: there is no ${to}`;
  if (anchor === undefined) return undefined;
  return anchors.get(to)?.includes(anchor) ? undefined : `${target}: ${to} has no such heading`;
}

describe.each(pages)('$path', (page) => {
  it('links only to files and headings that exist', () => {
    const inside = linksOf(page).filter((target) => !/^[a-z]+:/.test(target));
    expect(inside.map((target) => missing(page.path, target)).filter((text) => text !== undefined)).toEqual([]);
  });

  it('names only files that exist', () => {
    expect(filesNamedIn(page).filter((name) => !isInRepository(name))).toEqual([]);
  });

  it('has only blocks in languages that are checked, and of these none without a proof or the mark of an excerpt', () => {
    const known = ['mermaid', 'sh', 'text', 'ts', 'yaml'];
    const unknown = page.blocks.filter(({ language }) => !known.includes(language));
    expect(unknown.map(({ place, language }) => `${place} ${language}`)).toEqual([]);
    const checked = page.blocks.filter(({ language }) => ['sh', 'ts', 'yaml'].includes(language));
    expect(checked.filter(({ marker }) => marker === undefined).map(({ place }) => place)).toEqual([]);
  });

  it('names proofs that exist', () => {
    const files = page.blocks.flatMap(({ marker }) => (marker?.kind === 'proof' ? marker.files : []));
    expect(files.filter((file) => !existsSync(join(repository, file)))).toEqual([]);
  });
});

const shown = pages.flatMap(({ path, blocks }) =>
  blocks.flatMap(({ place, language, content, marker }) =>
    language === 'text' && marker?.kind === 'proof' ? [{ path, place, content, files: marker.files }] : [],
  ),
);
it.each(shown)('the output of $place is what its proof expects', async ({ path, content, files }) => {
  const sources = await Promise.all(files.map((file) => readFile(join(repository, file), 'utf8')));
  const expected = sources.join('\n');
  if (isReplayedBy(expected, path)) return;
  expect(content.split('\n').filter((line) => !expected.includes(line))).toEqual([]);
});

/** Pages longer than others, with the reason. */
const references: Readonly<Record<string, string>> = {
  'constructs/provider/TUTORIAL.md':
    'one way from a release to an empty cluster, whose commands a test types in their order',
  'reconciler/BELIEFS.md': 'tables for reviews, read by tests',
  'reconciler/README.md': 'the map of all rooms, and where their decisions are',
  'reconciler/THREATS.md': 'tables for reviews, read by tests',
  'test/SEEDS.md': 'a row for each line of the seeds',
  'test/SOAK.md': 'a row for each file that only soak runs',
};

describe('the pages', () => {
  it('are there for every room that has one', () => {
    expect(pages.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        'README.md',
        'constructs/README.md',
        'constructs/provider/README.md',
        'imports/README.md',
        'reconciler/README.md',
        'reconciler/backup/README.md',
        'reconciler/cli/README.md',
        'reconciler/etcd/README.md',
        'reconciler/certificates/README.md',
        'test/README.md',
      ]),
    );
  });

  it('begin with a root page that is read in five minutes', () => {
    const root = pages.find(({ path }) => path === 'README.md');
    expect(Buffer.byteLength(root?.text ?? '')).toBeLessThanOrEqual(10_240);
  });

  it('are short enough to be finished, apart from what is generated', () => {
    const long = pages
      .filter(({ path }) => path !== 'README.md' && !path.startsWith('test/tools/testbed/go/'))
      .filter(({ text }) => Buffer.byteLength(text.replaceAll(/<!-- (\w[\w ]*) -->[^]*?<!-- \/\1 -->/g, '')) > 8192)
      .map(({ path }) => path);
    expect(long.toSorted()).toEqual(Object.keys(references).toSorted());
  });

  it('link to each other, so that every page is found from the root page', () => {
    const found = new Set(['README.md']);
    for (const path of found) {
      const page = pages.find((one) => one.path === path);
      for (const target of page ? linksOf(page) : []) {
        const [file = ''] = target.split('#');
        const to = relative(repository, join(repository, dirname(path), file));
        for (const one of [to, join(to, 'README.md')]) if (anchors.has(one)) found.add(one);
      }
    }
    const ours = [...anchors.keys()].filter((path) => !path.startsWith('test/tools/testbed/go/'));
    expect(ours.filter((path) => !found.has(path))).toEqual([]);
  });
});

describe('the tasks of the root page', () => {
  const root = pages.find(({ path }) => path === 'README.md')!;
  const rows = sectionOf(root, 'i-want-to-').match(/^\| \w.*\|$/gm) ?? [];
  const tasks = rows.flatMap((row) => linksOf({ prose: row }).map((target) => ({ row, target })));

  it('are many', () => expect(rows.length).toBeGreaterThan(14));

  it.each(tasks)('lead to something to copy, or to a table: $target', ({ target }) => {
    const [path, anchor] = target.split('#');
    const page = pages.find((one) => one.path === path)!;
    expect(sectionOf(page, anchor)).toMatch(/^(```(sh|yaml)|\|---)/m);
  });
});

describe('the maps', () => {
  const trees = pages.flatMap(({ path, blocks }) =>
    blocks.filter(({ language }) => language === 'text').map(({ place, content }) => ({ path, place, content })),
  );
  const maps = trees.filter(({ content }) => /^(constructs|reconciler|test)\/( |$)/m.test(content));

  it.each(maps)('of $place name only what is in the repository', ({ content }) => {
    const named = treeOf(content);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !existsSync(join(repository, name)))).toEqual([]);
  });

  it.each(['constructs', 'reconciler', 'test'])('name every directory of %s', (room) => {
    const named = new Set(maps.flatMap(({ content }) => treeOf(content)));
    const directories = readdirSync(join(repository, room), { withFileTypes: true }).filter(
      (entry) => entry.isDirectory() && globSync(`${room}/${entry.name}/**/*.*`, { cwd: repository }).length > 0,
    );
    expect(directories.map(({ name }) => `${room}/${name}/`).filter((path) => !named.has(path))).toEqual([]);
  });
});
