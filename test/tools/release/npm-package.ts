import { glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import { repository } from '../testbed/operator-bundle.ts';
import { run } from '../testbed/run.ts';

/** The library whose objects its users handle, too: an app has them once. */
const peers = ['cdk8s', 'cdk8s-plus-30', 'constructs'];

const readme = `# ${manifest.name}

${manifest.description}. This package has its cdk8s constructs and the types of its API:

    import { ControlPlaneChart, parseHostedControlPlane } from '${manifest.name}';

Every export is described where it is declared.
`;

/**
 * Compiles the constructs into a package for npm: JavaScript, and types that the compiler writes. Returns the path of its
 * archive.
 * @param directory an empty one for what is compiled
 */
export async function packLibrary(directory: string, destination: string): Promise<string> {
  const compiled = join(directory, 'package');
  await mkdir(compiled, { recursive: true });
  const options = {
    extends: join(repository, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      allowImportingTsExtensions: false,
      rewriteRelativeImportExtensions: true,
      declaration: true,
      resolveJsonModule: true,
      rootDir: repository,
      outDir: compiled,
      typeRoots: [join(repository, 'node_modules/@types')],
    },
    include: [],
    files: [join(repository, 'constructs/index.ts')],
  };
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(options));
  await run([join(repository, 'node_modules/.bin/tsc'), '--project', join(directory, 'tsconfig.json')]);
  const description = await packageDescription(compiled);
  await writeFile(join(compiled, 'package.json'), `${JSON.stringify(description, undefined, 2)}\n`);
  await writeFile(join(compiled, 'README.md'), readme);
  const [{ filename } = { filename: '' }] = JSON.parse(
    await run(['npm', 'pack', '--json', '--pack-destination', destination], { cwd: compiled }),
  ) as readonly { readonly filename: string }[];
  await rm(compiled, { recursive: true });
  return join(destination, filename);
}

/** Its `package.json`, with what its modules import. */
async function packageDescription(compiled: string): Promise<object> {
  const used = await importedPackages(compiled);
  const versions: Readonly<Record<string, string>> = { ...manifest.devDependencies, ...manifest.dependencies };
  const ranges = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, `^${versions[name]}`]));
  const entry = './constructs/index';
  return {
    name: manifest.name,
    version: manifest.version,
    description: manifest.description,
    license: manifest.license,
    type: 'module',
    exports: { '.': { types: `${entry}.d.ts`, default: `${entry}.js` } },
    engines: { node: '>=24' },
    dependencies: ranges(withTypes(used.filter((name) => !peers.includes(name)))),
    peerDependencies: ranges(peers),
  };
}

/** The same, and their types where others write these: the declarations of the library name them. */
function withTypes(names: readonly string[]): string[] {
  return [...names, ...names.map((name) => `@types/${name}`).filter((name) => name in manifest.devDependencies)];
}

/** The package of an import that is not of Node and not of this package. */
const importStatement = /^(?:import|export) [^;]*?\bfrom ["'](@[\w-]+\/[\w-]+|[\w-]+)(?:\/[\w./-]+)?["'];/gm;

/** @throws when a module imports what the operator does not depend on: it would be missing at its users */
async function importedPackages(compiled: string): Promise<string[]> {
  const found = new Set<string>();
  for await (const file of glob('**/*.{js,d.ts}', { cwd: compiled })) {
    const source = await readFile(join(compiled, file), 'utf8');
    for (const [, name] of source.matchAll(importStatement)) if (name) found.add(name);
  }
  for (const name of found) {
    if (!(name in manifest.dependencies)) throw new Error(`the library imports ${name}, which is no dependency`);
  }
  return [...found].sort();
}
