import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newestRevision } from '../../../constructs/cluster/release-revisions.ts';
import { repository } from '../testbed/operator-bundle.ts';
import { run } from '../testbed/run.ts';

/** What a release is made from. */
export interface Source {
  /** Hash of the commit. */
  readonly commit: string;
  /** Its date, in RFC 3339 and UTC: nothing in a release has another one, so that the same commit gives the same bytes. */
  readonly date: string;
  /** Subjects of the commits since the release before, newest first. */
  readonly changes: readonly string[];
  /** Tag of the release before; undefined for the first one. */
  readonly previous: string | undefined;
}

/** Reads the commit that is checked out. @throws when a file differs from it, or its version is not the one to release */
export async function readSource(version: string): Promise<Source> {
  const { version: declared } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')) as {
    version: string;
  };
  if (declared !== version) {
    throw new Error(`package.json has version ${declared}, not ${version}: set it by npm version ${version} first`);
  }
  const changed = await git('status', '--porcelain');
  if (changed !== '') throw new Error(`a release is made from a commit, and these files differ from it:\n${changed}`);
  requireKept(await readFile(join(repository, 'test/constructs/release-revisions/released.sha256'), 'utf8'));
  const previous = await previousTag(version);
  const range = previous === undefined ? 'HEAD' : `${previous}..HEAD`;
  const seconds = Number(await git('log', '-1', '--format=%ct'));
  return {
    commit: await git('rev-parse', 'HEAD'),
    date: new Date(seconds * 1000).toISOString(),
    changes: (await git('log', '--no-merges', '--format=%s', range)).split('\n'),
    previous,
  };
}

/** @throws unless the files of the newest release revision are among those that never change. @param sums as `sha256sum` prints them */
export function requireKept(sums: string, revision: number = newestRevision): void {
  if (sums.split('\n').some((line) => line.slice(66).startsWith(`${revision}/`))) return;
  throw new Error(
    `the files of release revision ${revision} can still change: keep their checksums first, as test/RELEASE-REVISIONS.md says`,
  );
}

/** The newest tag of a version in the history of the commit, apart from the one that is made. */
async function previousTag(version: string): Promise<string | undefined> {
  const tags = await git('tag', '--merged', 'HEAD', '--list', 'v*', '--sort=-version:refname');
  return tags.split('\n').find((tag) => tag !== '' && tag !== `v${version}`);
}

async function git(...args: readonly string[]): Promise<string> {
  return (await run(['git', ...args], { cwd: repository })).trim();
}
