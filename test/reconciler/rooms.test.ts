import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const repository = join(import.meta.dirname, '../..');

/** The rooms of `reconciler/`, the highest first: a file imports from its own room and from lower ones. */
const rooms = [
  'import',
  'cli',
  'operator',
  'signer',
  'reconcile',
  'phases',
  'desired-state',
  'backup',
  'encryption-at-rest',
  'run-state',
  'certificates',
  'etcd',
  'clusters',
  'engine',
  'pki',
  'kube',
  'programs',
];

/** The folders of `reconciler/clusters`, the highest first. */
const foldersOfClusters = ['pods', 'hosted', 'management', 'dry-run', 'exposure', 'network'];

/** Words of the product, which a library for Kubernetes does not know. */
const productWords = /hosted|HostedControlPlane|tenant|konnectivity|\bhcp\b/i;

const files = globSync('reconciler/**/*.ts', { cwd: repository });
const text = (file: string): string => readFileSync(join(repository, file), 'utf8');
const roomOf = (file: string): string => file.split('/')[1] ?? '';

/** What a file imports, as paths from the root of the repository. */
function importsOf(file: string): string[] {
  const found = text(file).matchAll(/\b(?:from |import |import\()'(\.{1,2}\/[^']+)'/g);
  return [...found].map(([, to = '']) => relative(repository, join(repository, dirname(file), to)));
}

const arrows = files.flatMap((file) =>
  importsOf(file)
    .filter((to) => to.startsWith('reconciler/') && roomOf(to) !== roomOf(file))
    .map((to) => ({ file, to })),
);

describe('the rooms of reconciler/', () => {
  it('are these, and no file lies outside of them', () => {
    const known = new Set(rooms);
    expect(files.filter((file) => !known.has(roomOf(file)))).toEqual([]);
    expect(rooms.length).toBeLessThanOrEqual(17);
  });

  it('need no room above them', () => {
    const floor = (file: string): number => rooms.indexOf(roomOf(file));
    expect(arrows.filter(({ file, to }) => floor(file) > floor(to))).toEqual([]);
  });

  it('need few others', () => {
    const pairs = new Set(arrows.map(({ file, to }) => `${roomOf(file)} → ${roomOf(to)}`));
    expect(pairs.size).toBeLessThanOrEqual(90);
  });
});

describe('the folders of reconciler/clusters', () => {
  const folderOf = (file: string): string => file.split('/')[2] ?? '';
  const inClusters = files.filter((file) => roomOf(file) === 'clusters');

  it('are these, and no file lies outside of them', () => {
    expect(new Set(inClusters.map(folderOf))).toEqual(new Set(foldersOfClusters));
  });

  it('need no folder above them', () => {
    const floor = (file: string): number => foldersOfClusters.indexOf(folderOf(file));
    const arrowsInside = inClusters.flatMap((file) => importsOf(file).map((to) => ({ file, to })));
    expect(arrowsInside.filter(({ file, to }) => roomOf(to) === 'clusters' && floor(file) > floor(to))).toEqual([]);
  });
});

describe('reconciler/kube, a library', () => {
  const library = files.filter((file) => roomOf(file) === 'kube');

  it('has no word of the product', () => {
    const lines = library.flatMap((file) =>
      text(file)
        .split('\n')
        .filter((line) => productWords.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    );
    expect(lines).toEqual([]);
  });

  it('knows of the product only the names of API resources', () => {
    const outside = library.flatMap((file) => importsOf(file).map((to) => ({ file, to })));
    const allowed = [
      'constructs/api/resources.ts',
      'constructs/cluster/defined-only.ts',
      'imports/kubernetes.ts',
      'package.json',
    ];
    expect(outside.filter(({ to }) => !to.startsWith('reconciler/kube/') && !allowed.includes(to))).toEqual([]);
  });
});
