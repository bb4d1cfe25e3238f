import { expect, it } from 'vitest';
import { againLane, planOf } from './plan.ts';

const files = {
  unit: ['test/run/a.test.ts', 'test/run/b.test.ts'],
  fullUnit: ['test/full/release/a.test.ts', 'test/full/release/b.test.ts'],
  host: ['test/system/a.test.ts'],
  fullHost: ['test/full/system/a.test.ts'],
  lent: ['test/cluster/reconciler/life.test.ts'],
  real: ['test/cluster/kube/a.test.ts'],
  soak: ['test/soak/a.test.ts'],
};
const all = Object.values(files).flat();
const summary = (chosen: readonly string[]) => {
  const { pure, real, soak } = planOf(chosen, all);
  const shown = [pure, ...real, soak].flatMap((lane) => lane ?? []);
  return shown.map(({ name, projects, files: listed }) => [name, projects.join(' '), listed?.length ?? 'all']);
};

it.each<[what: string, chosen: readonly string[], lanes: readonly (readonly [string, string, number | string])[]]>([
  [
    'what every push runs has no list of its pure files',
    [...files.unit, ...files.host, ...files.real],
    [
      ['unit', 'unit', 'all'],
      ['host', 'host', 1],
      ['real', 'testbed', 1],
    ],
  ],
  [
    'everything that is not soak',
    all.filter((file) => !files.soak.includes(file)),
    [
      ['unit', 'unit full-unit', 'all'],
      ['host', 'host', 2],
      ['lent', 'lent', 1],
      ['real', 'testbed', 1],
    ],
  ],
  ['some pure files are listed', files.fullUnit.slice(1), [['unit', 'full-unit', 1]]],
  [
    'soak is a lane of its own',
    [...files.fullHost, ...files.soak],
    [
      ['host', 'host', 1],
      ['soak', 'soak', 1],
    ],
  ],
  ['nothing', [], []],
])('%s', (_what, chosen, lanes) => expect(summary(chosen)).toEqual(lanes));

it('a file runs again on a testbed of its kind, without others beside it', () => {
  expect(againLane('test/system/a.test.ts', 1)).toEqual({
    name: 'again-1',
    projects: ['host'],
    files: ['test/system/a.test.ts'],
    testbed: 'testhost',
  });
  expect(againLane('test/soak/a.test.ts', 2)).toMatchObject({ projects: ['soak'], testbed: 'test' });
});
