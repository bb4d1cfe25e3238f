import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bystanders, goDirectory } from '../tools/testbed/families.ts';

/** kubeadm only reads Corefiles by it, and CoreDNS is made of it. */
const unshared = ['github.com/coredns/caddy'];

/** Versions of the modules that a folder requires, without those that stand-ins in the folder replace. */
async function requirements(folder: string): Promise<[module: string, version: string][]> {
  const file = await readFile(join(goDirectory, folder, 'go.mod'), 'utf8');
  const text = file.replace(/^exclude \([^)]*\)/m, '');
  const replaced = new Set([...text.matchAll(/^\t(\S+) => /gm)].map(([, module]) => module));
  const required = [...text.matchAll(/^(?:\t|require )(\S+) (v\S+)(?: \/\/ indirect)?$/gm)];
  return required
    .filter(([, module = '']) => !replaced.has(module))
    .map(([, module = '', version = '']) => [module, version]);
}

/** Modules of which the folders require several versions, with who requires which. */
async function differences(folders: readonly string[]): Promise<string[]> {
  const versions = new Map<string, Map<string, string[]>>();
  for (const folder of new Set(folders)) {
    for (const [module, version] of await requirements(folder)) {
      const known = versions.get(module) ?? new Map<string, string[]>();
      versions.set(module, known.set(version, [...(known.get(version) ?? []), folder]));
    }
  }
  return [...versions]
    .filter(
      ([module, known]) => known.size > 1 && !unshared.includes(module) && module !== 'github.com/coredns/coredns',
    )
    .map(
      ([module, known]) =>
        `${module}: ${[...known].map(([version, who]) => `${version} in ${who.join(', ')}`).join('; ')}`,
    );
}

// `go mod edit -require=MODULE@VERSION` in the folder, with `-exclude` of a higher version that it would have, and `go mod tidy`
test('Kubernetes and all bystanders have the same version of each library, so that it is compiled once', async () => {
  expect(bystanders.length).toBeGreaterThan(7);
  expect(await differences(['kubernetes', ...bystanders.map(({ name }) => name)])).toEqual([]);
});

test('another minor of Kubernetes, which is under test itself, has libraries of its own', async () => {
  expect(await differences(['kubernetes', 'kubernetes-1.36'])).toContainEqual(
    expect.stringMatching(/^golang\.org\/x\/net: \S+ in kubernetes; \S+ in kubernetes-1\.36$/),
  );
});
