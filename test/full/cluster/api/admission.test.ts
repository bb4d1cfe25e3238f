import { afterAll, beforeAll, expect, it } from 'vitest';
import { type InstalledApi, startInstalledApi } from '../../../cluster/api/installed-api.ts';
import { storedBefore } from '../../../cluster/api/stored-objects.ts';
import { admissionCases, changed, specWith, updateCases } from '../../../constructs/api/admission-cases.ts';

let installed: InstalledApi;

beforeAll(async () => {
  installed = await startInstalledApi();
});

afterAll(() => installed?.stop());

it('an object that was stored before the rules existed gets its labels and its status, and loses its finalizer, whichever rule it breaks', async () => {
  const { requests: api } = installed;
  const patch = (content: unknown, at: string) => api.send(at, { method: 'PATCH', content });
  const paths = await storedBefore(api, [
    { name: 'no version at all', spec: { version: 'unknown' } },
    ...admissionCases.flatMap(({ name, spec, refused }) => (refused ? [{ name, spec: specWith(spec) }] : [])),
    ...updateCases.flatMap(({ name, from, status, spec, refused }) =>
      refused ? [{ name, spec: changed(from, spec), status }] : [],
    ),
  ]);
  expect(paths.length).toBeGreaterThan(45);
  const codes = [];
  for (const { name, path } of paths) {
    const answers = [
      await patch({ metadata: { labels: { touched: 'yes' } } }, path),
      await patch({ status: { replicas: 1 } }, `${path}/status`),
      await api.send(path, { method: 'DELETE' }),
      await patch({ metadata: { finalizers: null } }, path),
      await api.get(path),
    ];
    codes.push([name, ...answers.map(({ code }) => code)]);
  }
  expect(codes).toEqual(paths.map(({ name }) => [name, 200, 200, 200, 200, 404]));
});
