import { glob, mkdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import type Protobuf from 'protobufjs';
import { build, type BuildOptions, type Metafile, type Plugin } from 'esbuild';
import { requiredBuiltins, smallQueues, usedParts } from './bundle-parts.ts';

/** The root of the repository. */
export const repository = resolve(import.meta.dirname, '../../..');

/** Output directory of the compiled operator. */
export const buildDirectory = join(repository, 'build');

/**
 * Compiles the operator with its dependencies into `main.js` and the chunks that it loads when it needs them, the programs
 * of users into `hcp.js` and `hcp-import.js`, the thread that watches the operator into `watchdog.js`, those that upload backups into `upload-thread.js`, the notices of the licences beside them, the program of pods that restore backups into
 * `receiver.js`, and the audit fan-out, which has an image of its own, into `audit.js`.
 */
export async function bundleOperator(directory = buildDirectory): Promise<LoadedAtStart> {
  await mkdir(directory, { recursive: true });
  for await (const name of glob('chunk-*', { cwd: directory })) await rm(join(directory, name));
  const metafile = await bundleProgram(directory);
  for (const name of commandLines) await bundleCommandLine(name, directory);
  await build({
    ...program,
    entryPoints: ['reconciler/backup/receiver/main.ts'],
    outfile: join(directory, 'receiver.js'),
  });
  await bundleFanOut(directory);
  return loadedAtStart(metafile);
}

/**
 * Compiles the operator's program alone, with its threads.
 * @param main the module that runs it
 */
export async function bundleProgram(directory: string, main = 'reconciler/operator/main.ts'): Promise<Metafile> {
  const { metafile } = await build({
    ...program,
    legalComments: 'linked',
    banner: { js: commonJsNames },
    // The threads of uploads share its chunks.
    entryPoints: { main, 'upload-thread': 'reconciler/backup/upload/upload-thread.ts' },
    outdir: directory,
    plugins: [etcdProtocol, requiredBuiltins, usedParts, smallQueues],
    splitting: true,
    chunkNames: 'chunk-[name]-[hash]',
    metafile: true,
  });
  await build({
    ...program,
    entryPoints: ['reconciler/reconcile/quarantine/watchdog.ts'],
    outfile: join(directory, 'watchdog.js'),
  });
  return metafile;
}

/** What the operator loads before it does anything: all of it stays in memory. */
export interface LoadedAtStart {
  readonly bytes: number;
  /** How much of it is code of libraries. */
  readonly libraryBytes: number;
  /** Names of the libraries, sorted. */
  readonly packages: readonly string[];
}

/** `main.js`, and the chunks that it imports before it runs. */
function loadedAtStart({ outputs }: Metafile): LoadedAtStart {
  const main = Object.keys(outputs).filter((path) => path.endsWith('/main.js'));
  const loaded = new Set(main);
  for (const path of loaded) {
    for (const next of outputs[path]?.imports ?? []) {
      if (next.kind === 'import-statement' && next.path in outputs) loaded.add(next.path);
    }
  }
  const inputs = [...loaded].flatMap((path) => Object.entries(outputs[path]?.inputs ?? {}));
  const ofLibraries = inputs.flatMap(([path, { bytesInOutput }]) => {
    const name = packageOf(path);
    return name === undefined ? [] : [{ name, bytes: bytesInOutput }];
  });
  const libraryBytes = ofLibraries.reduce((sum, { bytes }) => sum + bytes, 0);
  const bytes = [...loaded].reduce((sum, path) => sum + (outputs[path]?.bytes ?? 0), 0);
  return { bytes, libraryBytes, packages: [...new Set(ofLibraries.map(({ name }) => name))].sort() };
}

function packageOf(path: string): string | undefined {
  return /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(`/${path}`)?.[1];
}

/** The programs that users run. */
export const commandLines = ['hcp', 'hcp-import'] as const;
export type CommandLineName = (typeof commandLines)[number];

/** Compiles one of the programs that users run, alone. Returns its path. */
export async function bundleCommandLine(name: CommandLineName, directory = buildDirectory): Promise<string> {
  const outfile = join(directory, `${name}.js`);
  const banner = { js: `${commonJsNames}\n${newerNode(name)}` };
  await build({ ...commandLine(name), legalComments: 'linked', banner, outfile });
  return outfile;
}

/** Compiles the audit fan-out alone. */
export async function bundleFanOut(directory = buildDirectory): Promise<void> {
  await build({
    ...program,
    entryPoints: ['reconciler/programs/audit-fan-out/main.ts'],
    outfile: join(directory, fanOutBundle),
  });
}

/** File of the compiled audit fan-out. */
export const fanOutBundle = 'audit.js';

const program = {
  absWorkingDir: repository,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  // names stay as they are, because stack traces show them
  minifySyntax: true,
  minifyWhitespace: true,
  logLevel: 'error',
} as const;

/** Half of the dependencies are CommonJS and expect these, which an ES module does not have. */
const commonJsNames = [
  `import { createRequire as commonJsRequire } from 'node:module';`,
  'const require = commonJsRequire(import.meta.url);',
  'const __dirname = import.meta.dirname;',
  'const __filename = import.meta.filename;',
].join('\n');

/** An older Node ends somewhere in a library, with a stack trace. */
const newerNode = (program: string): string =>
  [
    'if (Number.parseInt(process.versions.node, 10) < 24) {',
    `  console.error(\`${program} needs Node 24 or newer, and this is \${process.version}\`);`,
    '  process.exit(1);',
    '}',
  ].join('\n');

/** etcd3 reads its protocol from files beside its own: a bundle has it as an object. */
const etcdProtocol: Plugin = {
  name: 'etcd-protocol',
  setup: (bundling) => {
    bundling.onLoad({ filter: /etcd3\/lib\/connection-pool\.js$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const protocol = join(dirname(path), '../proto/rpc.proto');
      const object = JSON.stringify(readProtocol(path, protocol));
      const contents = source.replace('.loadSync)(`${__dirname}/../proto/rpc.proto`', () => `.fromJSON)(${object}`);
      if (contents === source) throw new Error(`${path} loads its protocol in another way than before`);
      return { contents, loader: 'js' };
    });
  },
};

/** What the parser that a module of etcd3 uses reads from a file of the protocol. */
function readProtocol(module: string, file: string): object {
  const loader = createRequire(module).resolve('@grpc/proto-loader');
  const protobuf = createRequire(loader)('protobufjs') as typeof Protobuf;
  return new protobuf.Root().loadSync(file, { keepCase: true }).toJSON();
}

/** How a program that users run is compiled: what a command loads when it needs it stays in the same file, and runs only then. */
export const commandLine = (name: CommandLineName) =>
  ({
    ...program,
    entryPoints: [{ hcp: 'reconciler/cli/main.ts', 'hcp-import': 'reconciler/import/main.ts' }[name]],
    plugins: [etcdProtocol, requiredBuiltins, usedParts],
  }) satisfies BuildOptions;
