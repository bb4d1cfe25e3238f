import { describe, expect, it } from 'vitest';
import { readLedger } from './ledger.ts';
import { againLane, neededFamilies, planOf } from './plan.ts';

const files = {
  unit: ['test/tools/run/a.test.ts', 'test/tools/run/b.test.ts'],
  fullUnit: ['test/full/tools/release/a.test.ts', 'test/full/tools/release/b.test.ts'],
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
  return shown.map(({ name, projects, files: listed, isWhole = false }) => [
    name,
    projects.join(' '),
    isWhole ? 'all' : listed.length,
  ]);
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

it('a lane that runs without a list knows its files, to see that all have ended', () => {
  expect(planOf(files.unit, all).pure).toMatchObject({ isWhole: true, files: files.unit });
});

describe('families that are compiled before the first file', () => {
  const row = (...pins: string[]) => ({
    proves: pins.map((pin) => `test/tools/testbed/go/${pin}`),
    hash: '',
    green: '',
  });
  const ledger = {
    'test/full/cluster/api/charts.test.ts': row('helm'),
    'test/full/cluster/etcd/upgrade.test.ts': row('etcd', 'etcd-3.5', 'etcd-3.6'),
  };
  const push = ['kubernetes-1.36', 'cert-manager', 'versitygw'];

  it.each<[what: string, files: readonly string[], families: readonly string[]]>([
    ['every push: one upgrade without a worker, an issuer, a store', ['test/cluster/kube/lease.test.ts'], push],
    ['a file that pins a tool', ['test/full/cluster/api/charts.test.ts'], ['helm']],
    [
      'a file that pins what every testbed has, too',
      ['test/full/cluster/etcd/upgrade.test.ts'],
      ['etcd-3.6', 'etcd-3.5'],
    ],
    ['push and full', ['test/system/demo.test.ts', 'test/full/cluster/api/charts.test.ts'], [...push, 'helm']],
    ['nothing', [], []],
  ])('%s', (_what, files, families) => expect(neededFamilies(files, ledger)).toEqual(families));

  it('files that are run for other minors have these compiled first', () => {
    expect(neededFamilies(['test/soak/older-minors.test.ts'], readLedger())).toEqual(
      expect.arrayContaining(['kubernetes-1.33', 'kubernetes-1.33/nodes', 'kubernetes-1.34', 'etcd-1.33']),
    );
  });
});
