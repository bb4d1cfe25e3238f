import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, readdir, readFile, rename } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { families, goDirectory, pinnedVersion, type Family } from './families.ts';
import { withLock } from './lock.ts';
import { seconds, type Report } from './progress.ts';
import { run } from './run.ts';

/** Name of a binary to its file. */
export type Binaries = Readonly<Record<string, string>>;

/**
 * No debug information, which the linker strips anyway, and one thread for each package, because the packages already keep all
 * processors busy: a sixth less processor time.
 */
const compilerFlags = '-gcflags=all=-dwarf=false -c=1';

/**
 * A compiler ends before its heap is worth collecting: without the collector it takes a fifth less processor time. The largest
 * package of Kubernetes needs 760 MB; the limit is for the linker.
 */
const withoutCollector = { GOGC: 'off', GOMEMLIMIT: '6GiB' };

/** A binary of a family and its build arguments, the same on every machine. */
export interface Build {
  readonly name: string;
  readonly args: readonly string[];
}

/**
 * Every binary of the testbed: from `given` (`$HCP_TESTBED_BIN`) if that is set, otherwise from the cache, otherwise built with
 * Go (about 12 minutes on two cores the first time). An interrupted build continues where it was.
 */
export async function findBinaries(cache: string, given: string | undefined, report: Report): Promise<Binaries> {
  return given ? givenBinaries(given, report) : builtBinaries(families, join(cache, 'bin'), report);
}

/** Binaries that only some tests need, from the cache or built with Go, each once; a family takes about a minute. */
export async function findFurtherBinaries(
  further: readonly Family[],
  cache: string,
  report: Report,
): Promise<Binaries> {
  return builtBinaries(further, join(cache, 'bin'), report);
}

async function givenBinaries(directory: string, report: Report): Promise<Binaries> {
  const binaries = Object.fromEntries(allNames().map((name) => [name, join(directory, name)]));
  const missing: string[] = [];
  for (const [name, path] of Object.entries(binaries)) {
    if (!(await isExecutable(path))) missing.push(name);
  }
  if (missing.length > 0) {
    throw new Error(`HCP_TESTBED_BIN=${directory} lacks ${missing.join(', ')}: add them, or unset it to build all`);
  }
  report(`binaries from ${directory}`);
  return binaries;
}

async function builtBinaries(named: readonly Family[], root: string, report: Report): Promise<Binaries> {
  const start = performance.now();
  await mkdir(root, { recursive: true });
  const planned = await Promise.all(named.map((family) => plan(family, root)));
  // Several minors share one, which is built once.
  const plans = [...new Map(planned.map((each) => [each.directory, each])).values()];
  const missing = await absent(plans);
  if (missing.length === 0) {
    report(`${seconds(start)}  binaries: all ${plans.flatMap(({ builds }) => builds).length} found in ${root}`);
  } else {
    await withLock(
      join(root, 'lock'),
      (holder) => report(`waiting for process ${holder}, which builds`),
      async () => buildAll(await absent(plans), report),
    );
  }
  return Object.fromEntries(
    plans.flatMap(({ builds, directory }) => builds.map(({ name }) => [name, join(directory, name)])),
  );
}

interface Plan {
  readonly family: Family;
  readonly builds: readonly Build[];
  readonly directory: string;
}

/** The directory's name identifies everything that goes into the binaries, so existing ones are right. */
async function plan(family: Family, root: string): Promise<Plan> {
  const source = join(goDirectory, family.name);
  const builds = buildsOf(family, await familyVersion(family));
  const hash = createHash('sha256')
    .update(JSON.stringify(builds))
    .update(await goVersion(source));
  for (const file of await filesBelow(source)) hash.update(file).update(await readFile(join(source, file)));
  return { family, builds, directory: join(root, `${family.name}-${hash.digest('hex').slice(0, 12)}`) };
}

/** Paths in a directory and its folders, in the same order everywhere. */
async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => relative(directory, join(parentPath, name))).sort();
}

async function familyVersion(family: Family): Promise<string> {
  return family.variables ? pinnedVersion(family.name, family.module) : '';
}

/** The `go build` of each binary of a family; `version` is the pinned version of its module. */
export function buildsOf(family: Family, version: string): Build[] {
  const variables = Object.entries(family.variables?.(version) ?? {}).map(([name, value]) => `-X ${name}=${value}`);
  return Object.entries(family.binaries).map(([name, goPackage]) => {
    const tags = [...(family.tags ?? []), ...(family.extraTags?.[name] ?? [])].join(',');
    const flags = ['-trimpath', '-buildvcs=false', '-mod=readonly', compilerFlags];
    return { name, args: [...flags, '-tags', tags, '-ldflags', ['-s', '-w', ...variables].join(' '), goPackage] };
  });
}

async function buildAll(plans: readonly Plan[], report: Report): Promise<void> {
  const start = performance.now();
  let left = plans.flatMap(({ builds }) => builds).length;
  for (const { family, builds, directory } of plans) {
    const partial = `${directory}.partial`;
    await mkdir(partial, { recursive: true });
    for (const build of builds) {
      report(`${seconds(start)}  building ${build.name}, ${left} left`);
      await buildOne(join(goDirectory, family.name), build, partial);
      left -= 1;
    }
    await rename(partial, directory);
  }
  report(`${seconds(start)}  binaries: built`);
}

async function buildOne(source: string, build: Build, directory: string): Promise<void> {
  const target = join(directory, build.name);
  if (await isExecutable(target)) return;
  const env = { ...process.env, ...withoutCollector, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '' };
  await run(['go', 'build', '-o', `${target}.new`, ...build.args], { cwd: source, env });
  await rename(`${target}.new`, target);
}

/** The toolchain that builds in this directory: go.mod may require a newer one than the one installed. */
async function goVersion(source: string): Promise<string> {
  return run(['go', 'version'], { cwd: source }).catch(async (cause: unknown) => {
    throw new Error(
      `building the binaries needs Go ${await neededGo()} or newer: install it (https://go.dev/doc/install) and put it into PATH, or set HCP_TESTBED_BIN to a directory of ready binaries`,
      { cause },
    );
  });
}

/** The newest version that one of the families requires. */
async function neededGo(): Promise<string> {
  const files = families.map(({ name }) => readFile(join(goDirectory, name, 'go.mod'), 'utf8'));
  const versions = (await Promise.all(files)).map((text) => /^go (\S+)/m.exec(text)?.[1] ?? '');
  return versions.sort((one, other) => one.localeCompare(other, 'en', { numeric: true })).at(-1) ?? '';
}

async function absent(plans: readonly Plan[]): Promise<Plan[]> {
  const there = await Promise.all(plans.map(({ directory }) => isExecutable(directory)));
  return plans.filter((_, index) => !there[index]);
}

function allNames(): string[] {
  return families.flatMap(({ binaries }) => Object.keys(binaries));
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
