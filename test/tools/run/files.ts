import { globSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { lentChain } from './lent-chain.ts';

const repository = join(import.meta.dirname, '../../..');

/** What runs a test file: `npm test`, which every push runs; `npm run test:full` too; only `npm run test:soak`. */
export type Tier = 'push' | 'full' | 'soak';

/** The projects of test/vitest.config.ts: how a file runs, and beside which others. */
export type Project = 'unit' | 'full-unit' | 'testbed' | 'lent' | 'host' | 'soak';

/** These check everything on the host, or need a testbed of their own: for operators of all namespaces, or to remove kinds. */
const wholeHost = [
  'test/{full/,}tools/testbed/**/*.test.ts',
  'test/{full/,}system/**/*.test.ts',
  'test/{full/,}cluster/issuer/*.test.ts',
];

/** These lend control planes to each other. */
const borrowers = lentChain.map((subject) => subject.replace(/^test\//, 'test/{full/,}'));

const onRealBinaries = 'test/{full/,}{cluster,system,tools/testbed}/**/*.test.ts';

/** The files of each project. */
export const filesOf: Readonly<Record<Project, { readonly include: string[]; readonly exclude: string[] }>> = {
  unit: { include: ['test/**/*.test.ts'], exclude: [onRealBinaries, 'test/full/**', 'test/soak/**'] },
  'full-unit': { include: ['test/full/**/*.test.ts'], exclude: [onRealBinaries] },
  testbed: { include: ['test/{full/,}cluster/**/*.test.ts'], exclude: [...wholeHost, ...borrowers] },
  lent: { include: borrowers, exclude: [] },
  host: { include: wholeHost, exclude: [] },
  soak: { include: ['test/soak/**/*.test.ts'], exclude: [] },
};

/** The project of a file. @throws if none runs it */
export function projectOf(file: string): Project {
  const matches = (globs: readonly string[]) => globs.some((each) => matchesGlob(file, each));
  const found = (Object.keys(filesOf) as Project[]).find((project) => {
    const { include, exclude } = filesOf[project];
    return matches(include) && !matches(exclude);
  });
  if (!found)
    throw new Error(`no project of test/vitest.config.ts runs ${file}: its name ends in .test.ts, below test/`);
  return found;
}

export function tierOf(file: string): Tier {
  if (file.startsWith('test/full/')) return 'full';
  return file.startsWith('test/soak/') ? 'soak' : 'push';
}

/** All test files, by name, relative to the root of the repository. */
export function testFiles(): string[] {
  return globSync('test/**/*.test.ts', { cwd: repository }).sort();
}
