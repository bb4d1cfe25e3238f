import { expect, it, test } from 'vitest';
import { projectOf, testFiles, tierOf } from './files.ts';

it.each([
  ['test/reconciler/kube/errors.test.ts', 'unit', 'push'],
  ['test/tools/run/files.test.ts', 'unit', 'push'],
  ['test/testbed-unit/lock.test.ts', 'unit', 'push'],
  ['test/full/tools/release/library.test.ts', 'full-unit', 'full'],
  ['test/full/testbed-unit/operator-bundle.test.ts', 'full-unit', 'full'],
  ['test/cluster/kube/lease.test.ts', 'testbed', 'push'],
  ['test/full/cluster/upgrade/minors.test.ts', 'testbed', 'full'],
  ['test/cluster/reconciler/life.test.ts', 'lent', 'push'],
  ['test/full/cluster/reconciler/hosted.test.ts', 'lent', 'full'],
  ['test/cluster/exposure/gateway.test.ts', 'lent', 'push'],
  ['test/full/cluster/exposure/late-gateway.test.ts', 'testbed', 'full'],
  ['test/full/cluster/issuer/issuer.test.ts', 'host', 'full'],
  ['test/system/demo.test.ts', 'host', 'push'],
  ['test/full/tools/testbed/addons.test.ts', 'host', 'full'],
  ['test/soak/years.test.ts', 'soak', 'soak'],
])('%s is a file of the project %s and of the tier %s', (file, project, tier) => {
  expect(testFiles()).toContain(file);
  expect([projectOf(file), tierOf(file)]).toEqual([project, tier]);
});

test('every test file belongs to a project', () => {
  const files = testFiles();
  expect(files).toContain('test/tools/run/files.test.ts');
  for (const file of files) expect(() => projectOf(file)).not.toThrow();
});

it('says which names a test file has', () => {
  expect(() => projectOf('reconciler/a.test.ts')).toThrow('its name ends in .test.ts, below test/');
});
