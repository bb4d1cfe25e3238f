import { expect, it } from 'vitest';
import { readLedger } from './ledger.ts';
import { neededFamilies } from './needed-families.ts';

const row = (...pins: string[]) => ({ proves: pins.map((pin) => `test/testbed/go/${pin}`), hash: '', green: '' });
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
