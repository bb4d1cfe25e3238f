import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { bundleOperator, repository } from '../testbed/operator-bundle.ts';
import { nodeFlags } from '../testbed/operator-image.ts';

test('the bundle has ASCII characters only, because a single other one doubles its memory, and the client of S3 apart', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'bundle-'));
  try {
    await bundleOperator(directory);
    for (const name of await readdir(directory)) {
      if (!name.endsWith('.js')) continue;
      const text = await readFile(join(directory, name), 'latin1');
      expect([name, ...(text.match(/.{0,30}[^\p{ASCII}].{0,30}/gu) ?? [])]).toEqual([name]);
    }
    expect(await readFile(join(directory, 'main.js'), 'latin1')).not.toContain('ListObjectsV2Command');
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

test('an image of any origin starts Node with the flags that keep its memory small', async () => {
  const entrypoint = JSON.stringify(['/usr/local/bin/node', ...nodeFlags, '/app/main.js']).replaceAll(',', ', ');
  expect(nodeFlags).toContain('--optimize-for-size');
  expect(await readFile(join(repository, 'Containerfile'), 'utf8')).toContain(`ENTRYPOINT ${entrypoint}`);
});
