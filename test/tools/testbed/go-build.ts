import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { goDirectory, type Family } from './families.ts';
import { seconds, type Report } from './progress.ts';
import { run } from './run.ts';

/** A binary of a family and its build arguments, the same on every machine. */
export interface Build {
  readonly name: string;
  readonly args: readonly string[];
}

/** A family and all its builds. */
export interface FamilyBuilds {
  readonly family: Family;
  readonly builds: readonly Build[];
}

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

/** Shortest time between two lines about one binary, so that the log of a whole build can still be read. */
const tellEveryMs = 10_000;

/** The `go build` of each binary of a family; `version` is the pinned version of its module. */
export function buildsOf(family: Family, version: string): Build[] {
  const variables = Object.entries(family.variables?.(version) ?? {}).map(([name, value]) => `-X ${name}=${value}`);
  return Object.entries(family.binaries).map(([name, goPackage]) => {
    const tags = [...(family.tags ?? []), ...(family.extraTags?.[name] ?? [])].join(',');
    const modules = family.main === undefined ? [] : [`-modfile=../${family.name}/go.mod`];
    const flags = ['-trimpath', '-buildvcs=false', '-mod=readonly', ...modules, compilerFlags, '-tags', tags];
    return { name, args: [...flags, '-ldflags', ['-s', '-w', ...variables].join(' '), goPackage] };
  });
}

/** Compiles a binary to `target`, and tells at times how many packages of those that the cache lacks are begun. */
export async function compile(family: Family, build: Build, target: string, report: Report): Promise<void> {
  const stale = await go(family, ['list', '-deps', '-f', '{{if .Stale}}{{.ImportPath}}{{end}}', ...build.args]);
  const missing = stale.split('\n').filter((line) => line !== '').length;
  await go(family, ['build', '-v', '-o', `${target}.new`, ...build.args], packageCounter(build.name, missing, report));
  await rename(`${target}.new`, target);
}

/**
 * Counts the packages that `go build -v` names as it begins with them, and tells their number, not more often than a log of a whole
 * build bears. Takes no other line, such as an error.
 */
export function packageCounter(
  name: string,
  missing: number,
  report: Report,
  now: () => number = () => performance.now(),
): (line: string) => boolean {
  const start = now();
  let told = start;
  let begun = 0;
  return (line) => {
    if (!/^[\w./~-]+$/.test(line)) return false;
    begun += 1;
    if (now() - told >= tellEveryMs) {
      told = now();
      report(`${seconds(start, told)}  ${name}: ${thousands(begun)} of ${thousands(missing)} packages`);
    }
    return true;
  };
}

/** Downloads the modules of families, one after the other, so that compilers wait for no network. */
export async function fetchModules(wanted: readonly FamilyBuilds[]): Promise<void> {
  for (const { family, builds } of wanted) {
    const [first, ...others] = builds.map(({ args }) => args);
    if (first) await go(family, ['list', '-deps', ...first, ...others.flatMap((args) => args.slice(-1))]);
  }
}

/** The toolchain that builds a family: go.mod may require a newer one than the one installed. */
export async function goVersion(family: Family): Promise<string> {
  return run(['go', 'version'], { cwd: sourceOf(family) });
}

/** The folder in which Go builds a family. */
export function sourceOf(family: Family): string {
  return join(goDirectory, family.main ?? family.name);
}

async function go(family: Family, args: readonly string[], takesLine?: (line: string) => boolean): Promise<string> {
  const env = { ...process.env, ...withoutCollector, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '' };
  return run(['go', ...args], { cwd: sourceOf(family), env, takesLine });
}

function thousands(count: number): string {
  return count.toLocaleString('en');
}
