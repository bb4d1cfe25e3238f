import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };

/** What runs each script of package.json: a test, or a developer, who sees when it fails. */
const runBy: Readonly<Record<string, { readonly test: string } | { readonly person: string }>> = {
  'api-report': { test: 'full/release/library.test.ts' },
  bench: { test: 'full/system/bench.test.ts' },
  build: { test: 'system/scripts.test.ts' },
  certificates: { test: 'system/scripts.test.ts' },
  check: { person: 'before every commit' },
  demo: { test: 'system/demo.test.ts' },
  docs: { test: 'system/scripts.test.ts' },
  faults: { test: 'system/scripts.test.ts' },
  format: { test: 'system/scripts.test.ts' },
  hcp: { test: 'system/scripts.test.ts' },
  image: { test: 'system/scripts.test.ts' },
  import: { test: 'system/scripts.test.ts' },
  mutate: { person: 'after a change of a module that decides: it takes forty minutes' },
  release: { test: 'system/scripts.test.ts' },
  start: { test: 'system/scripts.test.ts' },
  synth: { test: 'system/scripts.test.ts' },
  test: { person: 'before every release: it is the run of these tests' },
  'test:again': { test: 'system/scripts.test.ts' },
  'test:durations': { test: 'system/scripts.test.ts' },
  'test:full': { person: 'before every release: it is the run of all tests but the soak tests' },
  'test:soak': { person: 'before every release: it is the run of the soak tests' },
  'test:stale': { person: 'before a release, and after a change of what a full file proves: it runs these files' },
  'test:unit': { person: 'before every commit' },
  testbed: { test: 'system/scripts.test.ts' },
};

const scripts = Object.keys(manifest.scripts);

describe('scripts of package.json', () => {
  it('are all run by something, so that none stops working unnoticed', () => {
    expect(Object.keys(runBy).sort()).toEqual(scripts.toSorted());
  });

  const tested = Object.entries(runBy).flatMap(([script, by]) => ('test' in by ? [[script, by.test] as const] : []));
  it.each(tested)('%s is run by test/%s', async (script, file) => {
    const text = await readFile(join(import.meta.dirname, file), 'utf8');
    expect(text).toMatch(new RegExp(`(npmRun|runScript|startScript)\\('${script}'`));
  });
});
