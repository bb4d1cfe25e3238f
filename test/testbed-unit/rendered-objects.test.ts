import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { documentsOf, parseObjects, renderedOnce } from '../testbed/rendered-objects.ts';

test('empty documents are left out', () => {
  expect(documentsOf('# a comment\n---\nkind: A\n---\n---\nkind: B\n')).toEqual([{ kind: 'A' }, { kind: 'B' }]);
});

test('a document that is not an object is refused', () => {
  expect(() => parseObjects('[{"kind": "A"}]')).toThrow('apiVersion');
});

test('what was rendered once is read from the cache from then on', async () => {
  const cache = await mkdtemp(join(tmpdir(), 'cache-'));
  onTestFinished(() => rm(cache, { recursive: true }));
  const rendered: string[] = [];
  const render = (name: string) =>
    renderedOnce(
      cache,
      name,
      () => {},
      async () => {
        rendered.push(name);
        return [name];
      },
    );
  expect([await render('a'), await render('a'), await render('b')]).toEqual(['["a"]', '["a"]', '["b"]']);
  expect(rendered).toEqual(['a', 'b']);
});

test('what failed is rendered again', async () => {
  const cache = await mkdtemp(join(tmpdir(), 'cache-'));
  onTestFinished(() => rm(cache, { recursive: true }));
  const failing = renderedOnce(
    cache,
    'a',
    () => {},
    () => Promise.reject(new Error('no such module')),
  );
  await expect(failing).rejects.toThrow('no such module');
  expect(
    await renderedOnce(
      cache,
      'a',
      () => {},
      async () => [1],
    ),
  ).toBe('[1]');
});
