import { cp, glob, mkdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { build, type BuildOptions, type Metafile, type Plugin } from 'esbuild';
import { requiredBuiltins, smallQueues, usedParts } from './bundle-parts.ts';

/** The root of the repository. */
export const repository = resolve(import.meta.dirname, '../..');

/** Output directory of the compiled operator. */
export const buildDirectory = join(repository, 'build');

/**
 * Compiles the operator with its dependencies into `main.js` and the chunks that it loads when it needs them, the command
 * line into `hcp.js`, the notices of the licences beside them, the program of pods that restore backups into
 * `receiver.js`, and the audit fan-out, which has an image of its own, into `audit.js`.
 */
export async function bundleOperator(directory = buildDirectory): Promise<LoadedAtStart> {
  await mkdir(directory, { recursive: true });
  for await (const name of glob('chunk-*', { cwd: directory })) await rm(join(directory, name));
  const whole = {
    ...program,
    outdir: directory,
    legalComments: 'linked' as const,
    banner: { js: commonJsNames },
    plugins: [etcdProtocol(directory)],
  } satisfies BuildOptions;
  const { metafile } = await build({
    ...whole,
    entryPoints: { main: programs.main },
    plugins: [...whole.plugins, requiredBuiltins, usedParts, smallQueues],
    splitting: true,
    chunkNames: 'chunk-[name]-[hash]',
    metafile: true,
  });
  // with everything of its libraries: it ends after each command
  await build({ ...whole, entryPoints: { hcp: programs.hcp } });
  await build({
    ...program,
    entryPoints: ['reconciler/receiver/main.ts'],
    outfile: join(directory, 'receiver.js'),
  });
  await bundleFanOut(directory);
  return loadedAtStart(metafile);
}

/** What the operator loads before it does anything: all of it stays in memory. */
export interface LoadedAtStart {
  readonly bytes: number;
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
  const files = [...loaded].flatMap((path) => outputs[path] ?? []);
  const packages = files.flatMap(({ inputs }) => Object.keys(inputs).flatMap((path) => packageOf(path) ?? []));
  return { bytes: files.reduce((sum, { bytes }) => sum + bytes, 0), packages: [...new Set(packages)].sort() };
}

function packageOf(path: string): string | undefined {
  return /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(`/${path}`)?.[1];
}

/** Compiles the audit fan-out alone. */
export async function bundleFanOut(directory = buildDirectory): Promise<void> {
  await build({
    ...program,
    entryPoints: ['reconciler/audit/fan-out/main.ts'],
    outfile: join(directory, fanOutBundle),
  });
}

/** File of the compiled audit fan-out. */
export const fanOutBundle = 'audit.js';

/** The operator and the command line, by the name of their bundle. */
const programs = { main: 'reconciler/operator/main.ts', hcp: 'reconciler/cli/main.ts' };

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

/** etcd3 reads its protocol from files in `../proto`: beside the bundle they are in `proto`. */
function etcdProtocol(directory: string): Plugin {
  return {
    name: 'etcd-protocol',
    setup: (bundling) => {
      bundling.onLoad({ filter: /etcd3\/lib\/connection-pool\.js$/ }, async ({ path }) => {
        const source = await readFile(path, 'utf8');
        const contents = source.replace('${__dirname}/../proto/', '${__dirname}/proto/');
        if (contents === source) throw new Error(`${path} loads its protocol in another way than before`);
        const library = dirname(createRequire(path).resolve('etcd3/package.json'));
        await cp(join(library, 'proto'), join(directory, 'proto'), { recursive: true });
        return { contents, loader: 'js' };
      });
    },
  };
}
