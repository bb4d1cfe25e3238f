import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { bundleOperator, repository } from '../testbed/operator-bundle.ts';

test('the bundle has ASCII characters only: with a single other one, it takes twice the memory', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'bundle-'));
  try {
    await bundleOperator(directory);
    const text = await readFile(join(directory, 'main.js'), 'latin1');
    expect(text.match(/.{0,30}[^\p{ASCII}].{0,30}/gu) ?? []).toEqual([]);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('the operator loads the client of S3 only when it opens a store', async () => {
  const main = 'reconciler/operator/main.ts';
  const { metafile } = await build({
    absWorkingDir: repository,
    entryPoints: [main],
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    write: false,
    metafile: true,
  });
  const loaded = new Set([main]);
  for (const path of loaded) {
    for (const { kind, path: imported } of metafile.inputs[path]?.imports ?? []) {
      if (kind === 'import-statement') loaded.add(imported);
    }
  }
  expect(loaded).toContain('@kubernetes/client-node');
  expect([...loaded].filter((path) => path.startsWith('@aws-sdk/'))).toEqual([]);
});
