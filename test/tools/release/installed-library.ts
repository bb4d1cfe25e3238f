import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import { repository } from '../testbed/operator-bundle.ts';
import { run } from '../testbed/run.ts';
import { packLibrary } from './npm-package.ts';

/** The library as a project has it that depends on it. */
export interface InstalledLibrary {
  readonly directory: string;
  /** Its `package.json`. */
  readonly description: {
    readonly dependencies: Readonly<Record<string, string>>;
    readonly peerDependencies: Readonly<Record<string, string>>;
  };
}

/** Packs the library and installs it into a project: with what it depends on and the types of Node, and nothing else. */
export async function installLibrary(project: string): Promise<InstalledLibrary> {
  const modules = join(project, 'node_modules');
  const directory = join(modules, manifest.name);
  await mkdir(directory, { recursive: true });
  const archive = await packLibrary(join(project, 'work'), project);
  await run(['tar', '--extract', '--file', archive, '--directory', directory, '--strip-components=1']);
  const text = await readFile(join(directory, 'package.json'), 'utf8');
  const description = JSON.parse(text) as InstalledLibrary['description'];
  const installed = Object.keys({ ...description.dependencies, ...description.peerDependencies });
  for (const name of [...installed, '@types/node', 'undici-types']) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(join(repository, 'node_modules', name), join(modules, name));
  }
  await writeFile(join(project, 'package.json'), JSON.stringify({ type: 'module' }));
  return { directory, description };
}
