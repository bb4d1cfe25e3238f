import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, readdir, readFile, rename } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { families, goDirectory, pinnedVersion, type Family } from './families.ts';
import { buildsOf, compile, fetchModules, goVersion, sourceOf, type FamilyBuilds } from './go-build.ts';
import { withLock } from './lock.ts';
import { seconds, type Report } from './progress.ts';

/** Name of a binary to its file. */
export type Binaries = Readonly<Record<string, string>>;

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

interface Plan extends FamilyBuilds {
  readonly directory: string;
}

/** The directory's name identifies everything that goes into the binaries, so existing ones are right. */
async function plan(family: Family, root: string): Promise<Plan> {
  const builds = buildsOf(family, await familyVersion(family));
  const hash = createHash('sha256')
    .update(JSON.stringify(builds))
    .update(await toolchain(family));
  for (const folder of new Set([join(goDirectory, family.name), sourceOf(family)])) {
    for (const file of await filesBelow(folder)) hash.update(file).update(await readFile(join(folder, file)));
  }
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

async function buildAll(plans: readonly Plan[], report: Report): Promise<void> {
  const start = performance.now();
  const all = plans.flatMap(({ builds }) => builds).length;
  let nth = 0;
  // what cannot be downloaded is told by the compilation that needs it
  const fetched = fetchModules(plans).catch(() => {});
  for (const { family, builds, directory } of plans) {
    const partial = `${directory}.partial`;
    await mkdir(partial, { recursive: true });
    for (const build of builds) {
      nth += 1;
      report(`${seconds(start)}  building ${build.name}, ${nth} of ${all}`);
      const target = join(partial, build.name);
      if (!(await isExecutable(target))) await compile(family, build, target, report);
    }
    await rename(partial, directory);
  }
  await fetched;
  report(`${seconds(start)}  binaries: built`);
}

/** The toolchain of a family, or what to install. */
async function toolchain(family: Family): Promise<string> {
  return goVersion(family).catch(async (cause: unknown) => {
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
