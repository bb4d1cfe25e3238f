import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import packageManifest from '../package.json' with { type: 'json' };
import { pinnedVersion } from './tools/testbed/families.ts';

const directory = join(import.meta.dirname, '../imports');
const modules = (await readdir(directory)).filter((file) => file.endsWith('.ts'));

it.each(modules)('%s is generated from the version that is pinned, else npm run import', async (file) => {
  const text = await readFile(join(directory, file), 'utf8');
  const [, kept, module = '', version, family = '', generator] =
    /^\/\/ (?:(imports\/definitions)|(\S+) (\S+) of test\/tools\/testbed\/go\/(\S+)) by cdk8s-cli (\S+): /.exec(text) ??
    [];
  expect(version).toBe(kept === undefined ? await pinnedVersion(family, module) : undefined);
  expect(generator).toBe(packageManifest.devDependencies['cdk8s-cli']);
});
