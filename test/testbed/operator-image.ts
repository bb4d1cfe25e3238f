import { readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { nonRoot } from '../../constructs/pod/unprivileged.ts';
import { writeImageArchive, type ImageEntry } from './oci.ts';
import { buildDirectory, fanOutBundle, repository } from './operator-bundle.ts';
import { sharedLibraries } from './shared-libraries.ts';

/**
 * Flags of Node for the operator that it takes from no environment variable. With the first one the heap of an operator with two clusters takes
 * 36 MiB instead of 57 MiB, and the processor a sixth more.
 */
export const nodeFlags: readonly string[] = ['--optimize-for-size'];

/**
 * Packs the output of {@link bundleOperator} into an OCI archive, with Node and its libraries: no shell, no package
 * manager, nothing else. Node has the root CA certificates of the web built in. Returns the digest of the image.
 */
export async function packOperatorImage(
  archive: string,
  reference: string,
  directory = buildDirectory,
): Promise<string> {
  return packNodeImage(archive, reference, [...nodeFlags, '/app/main.js'], await filesBelow(directory, '/app'));
}

/**
 * Packs the audit fan-out that {@link bundleOperator} has compiled, with Node and its libraries. Returns the digest of the
 * image.
 */
export async function packFanOutImage(archive: string, reference: string, directory = buildDirectory): Promise<string> {
  const path = join('/app', fanOutBundle);
  const source = join(directory, fanOutBundle);
  return packNodeImage(archive, reference, [path], [{ kind: 'file', path, source, mode: 0o644 }]);
}

async function packNodeImage(
  archive: string,
  reference: string,
  programArguments: readonly string[],
  files: readonly ImageEntry[],
): Promise<string> {
  const node = await nodeBinary();
  return writeImageArchive(archive, {
    reference,
    config: {
      Entrypoint: ['/usr/local/bin/node', ...programArguments],
      Env: ['PATH=/usr/local/bin', 'NODE_ENV=production', 'HOME=/tmp'],
      User: `${nonRoot}:${nonRoot}`,
      WorkingDir: '/app',
    },
    entries: [
      { kind: 'file', path: '/usr/local/bin/node', source: node, mode: 0o755 },
      ...(await sharedLibraries([node])),
      ...files,
      { kind: 'text', path: '/etc/passwd', text: `nonroot:x:${nonRoot}:${nonRoot}:nonroot:/tmp:/sbin/nologin\n` },
      { kind: 'directory', path: '/tmp', mode: 0o1777 },
    ],
  });
}

/** The same Node that the repository is developed and tested with. */
async function nodeBinary(): Promise<string> {
  const packageName = `node-linux-${process.arch}`;
  try {
    const manifest = createRequire(join(repository, 'package.json')).resolve(`${packageName}/package.json`);
    return join(dirname(manifest), 'bin/node');
  } catch (cause) {
    throw new Error(`the package ${packageName} is missing: run npm install on Linux`, { cause });
  }
}

async function filesBelow(directory: string, target: string): Promise<ImageEntry[]> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true }).catch((cause: unknown) => {
    throw new Error(`${directory} cannot be read: run npm run build first`, { cause });
  });
  return entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.tar') && entry.name !== fanOutBundle)
    .map((entry) => {
      const source = join(entry.parentPath, entry.name);
      return { kind: 'file', path: join(target, source.slice(directory.length)), source, mode: 0o644 };
    });
}
