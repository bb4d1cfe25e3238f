import { readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { nonRoot } from '../../../constructs/pod/restricted-pod.ts';
import { writeImageArchive, type ImageContent, type ImageEntry } from './oci.ts';
import { buildDirectory, fanOutBundle, repository } from './operator-bundle.ts';
import { sharedLibraries } from './shared-libraries.ts';

/**
 * Flags of Node for the operator that it takes from no environment variable. With the first one the heap of an operator with two clusters takes
 * 36 MiB instead of 57 MiB, and the processor a sixth more.
 */
export const nodeFlags: readonly string[] = ['--optimize-for-size'];

/** A Node for an image. */
export interface NodeForImage {
  /** Path of the program. */
  readonly program: string;
  readonly libraries: readonly ImageEntry[];
}

/**
 * Packs the output of {@link bundleOperator} into an OCI archive, with Node and its libraries: no shell, no package
 * manager, nothing else. Node has the root CA certificates of the web built in. Returns the digest of the image.
 */
export async function packOperatorImage(
  archive: string,
  reference: string,
  directory = buildDirectory,
): Promise<string> {
  return writeImageArchive(archive, { reference, ...(await operatorContent(directory, await ownNode())) });
}

/**
 * Packs the audit fan-out that {@link bundleOperator} has compiled, with Node and its libraries. Returns the digest of the
 * image.
 */
export async function packFanOutImage(archive: string, reference: string, directory = buildDirectory): Promise<string> {
  return writeImageArchive(archive, { reference, ...fanOutContent(directory, await ownNode()) });
}

/** The operator's image. @param directory output of {@link bundleOperator} */
export async function operatorContent(directory: string, node: NodeForImage): Promise<ImageContent> {
  return nodeContent(node, [...nodeFlags, '/app/main.js'], await filesBelow(directory, '/app'));
}

/** The image of the audit fan-out. @param directory output of {@link bundleOperator} */
export function fanOutContent(directory: string, node: NodeForImage): ImageContent {
  const path = join('/app', fanOutBundle);
  const source = join(directory, fanOutBundle);
  return nodeContent(node, [path], [{ kind: 'file', path, source, mode: 0o644 }]);
}

/** An image of Node that runs a program as a user without rights. */
export function nodeContent(
  { program, libraries }: NodeForImage,
  programArguments: readonly string[],
  files: readonly ImageEntry[],
): ImageContent {
  return {
    config: {
      Entrypoint: ['/usr/local/bin/node', ...programArguments],
      Env: ['PATH=/usr/local/bin', 'NODE_ENV=production', 'HOME=/tmp'],
      User: `${nonRoot}:${nonRoot}`,
      WorkingDir: '/app',
    },
    entries: [
      { kind: 'file', path: '/usr/local/bin/node', source: program, mode: 0o755 },
      ...libraries,
      ...files,
      { kind: 'text', path: '/etc/passwd', text: `nonroot:x:${nonRoot}:${nonRoot}:nonroot:/tmp:/sbin/nologin\n` },
      { kind: 'directory', path: '/tmp', mode: 0o1777 },
    ],
  };
}

/** The Node that the repository is developed and tested with, and the libraries of this machine. */
export async function ownNode(): Promise<NodeForImage> {
  const program = join(dirname(manifestOf(`node-linux-${process.arch}`)), 'bin/node');
  return { program, libraries: await sharedLibraries([program]) };
}

function manifestOf(packageName: string): string {
  try {
    return createRequire(join(repository, 'package.json')).resolve(`${packageName}/package.json`);
  } catch (cause) {
    throw new Error(`the package ${packageName} is missing: run npm install on Linux`, { cause });
  }
}

async function filesBelow(directory: string, target: string): Promise<ImageEntry[]> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true }).catch((cause: unknown) => {
    throw new Error(`${directory} cannot be read: run npm run build first`, { cause });
  });
  return (
    entries
      .filter((entry) => entry.isFile() && !entry.name.endsWith('.tar') && entry.name !== fanOutBundle)
      // users run it on their own machine
      .filter(({ name }) => !name.startsWith('hcp-import.js'))
      .map((entry) => {
        const source = join(entry.parentPath, entry.name);
        return { kind: 'file', path: join(target, source.slice(directory.length)), source, mode: 0o644 };
      })
  );
}
