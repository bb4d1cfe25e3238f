import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sourceIdentity } from '../tools/testbed/source-identity.ts';

test('an image is built again once a file changes of which it is made, is added or goes away', async () => {
  const root = await mkdtemp(join(tmpdir(), 'sources-'));
  onTestFinished(() => rm(root, { recursive: true }));
  const write = async (file: string, text = file) => {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), text);
  };
  const sources = ['constructs/pod/a.ts', 'imports/b.ts', 'reconciler/c.ts', 'test/tools/testbed/d.ts'];
  const files = [...sources, 'package.json', 'package-lock.json'];
  for (const file of files) await write(file);
  let before = await sourceIdentity(root);
  expect(await sourceIdentity(root)).toBe(before);
  const expectChange = async (what: string) => {
    const after = await sourceIdentity(root);
    expect({ what, isChanged: after !== before }).toEqual({ what, isChanged: true });
    before = after;
  };
  for (const file of files) {
    await write(file, 'changed');
    await expectChange(file);
  }
  await write('reconciler/kube/new.ts');
  await expectChange('a file that is new');
  await rm(join(root, 'reconciler/kube/new.ts'));
  await expectChange('a file that is gone');
});

test('an image is not built again when a test changes', async () => {
  const root = await mkdtemp(join(tmpdir(), 'sources-'));
  onTestFinished(() => rm(root, { recursive: true }));
  for (const folder of ['constructs', 'imports', 'reconciler', 'test/tools/testbed']) {
    await mkdir(join(root, folder), { recursive: true });
  }
  for (const file of ['package.json', 'package-lock.json']) await writeFile(join(root, file), '');
  const before = await sourceIdentity(root);
  await writeFile(join(root, 'test/new.test.ts'), '');
  expect(await sourceIdentity(root)).toBe(before);
});
