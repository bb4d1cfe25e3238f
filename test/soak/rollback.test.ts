import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { ConfigMap } from '../../constructs/api/resources.ts';
import { defaultsFor } from '../../constructs/cluster/versions.ts';
import { BackupWorkbench, unverifiedBackup } from '../support/backup-workbench.ts';
import { recordFault } from '../support/fault-table.ts';
import { until } from '../support/until.ts';
import { kubernetesVersion, single } from '../support/workbench.ts';
import { addMinor } from '../tools/testbed/further-minor.ts';
import { instanceFrom } from '../tools/testbed/instance.ts';

// An upgrade by one minor, which a user takes back.
const namespace = 'rollback';
const limitMs = 300_000;
const fieldManager = 'test';
/** A feature gate that kube-apiserver 1.36 knows, and 1.37 does not. */
const removedGate = 'ConsistentListFromCache';
let bench: BackupWorkbench;
let older: string;

beforeAll(async () => {
  older = (await addMinor(instanceFrom(process.env, inject('testbed')), '1.36', console.log)).version;
  bench = await BackupWorkbench.start({ namespace });
  const deployment = { apiServer: { args: { 'feature-gates': `${removedGate}=true` } } };
  const etcd = { replicas: 1, backup: unverifiedBackup };
  await bench.create('c1', { ...single, version: older, deployment, etcd, upgrade: { hold: '0s' } });
  await bench.untilReady('c1', limitMs);
});
afterAll(() => bench.close());

/** Writes ConfigMaps into the hosted cluster once it answers, and deletes others. */
async function write(names: readonly string[], deleted: readonly string[] = []): Promise<void> {
  const hosted = await bench.hosted('c1');
  const { apiVersion, kind } = ConfigMap;
  const named = (name: string) => ({ namespace: 'default', name });
  try {
    for (const name of names) {
      const object = { apiVersion, kind, metadata: named(name), data: { at: String(Date.now()) } };
      await until('a write', () => hosted.apply(object, { fieldManager, force: true }).catch(() => undefined));
    }
    for (const name of deleted) await hosted.delete(ConfigMap, named(name));
  } finally {
    await hosted.connection.close();
  }
}

async function configMaps(): Promise<string[]> {
  const hosted = await bench.hosted('c1');
  try {
    const list = () => hosted.list(ConfigMap, { namespace: 'default' }).catch(() => undefined);
    const { items } = await until('the ConfigMaps', list);
    return items.map(({ metadata }) => metadata.name).filter((name) => name !== 'kube-root-ca.crt');
  } finally {
    await hosted.connection.close();
  }
}

/** The answer of the API server to a question about its version. */
async function saysOfItself(): Promise<object> {
  const hosted = await bench.hosted('c1');
  try {
    return JSON.parse(await hosted.raw('/version')) as object;
  } finally {
    await hosted.connection.close();
  }
}

async function etcdVersions(): Promise<(string | undefined)[] | undefined> {
  return (await bench.get('c1')).status?.etcd?.members?.map(({ version }) => version);
}

test('an upgrade is held by the kube-apiserver of its version, which refuses a flag', async () => {
  await bench.patch('c1', { spec: { version: kubernetesVersion } });
  const because = { status: 'False', reason: 'ConfigurationRefused', message: new RegExp(removedGate) } as const;
  await bench.untilCondition('c1', 'UpgradePreflightSucceeded', because);
  expect((await bench.get('c1')).status?.versions).toEqual([{ version: older, replicas: 1 }]);
  const check = ['preflight', 'c1', '--to', kubernetesVersion, '-n', namespace];
  const checked = await bench.hcp.run(...check).ended;
  expect(checked).toMatchObject({ code: 1, out: expect.stringMatching(/^configuration +failed +.*ConsistentList/m) });
});

test('binaries of 1.37 emulate 1.36, and those of 1.36 read what they have stored', async () => {
  await bench.patch('c1', { spec: { version: kubernetesVersion, deployment: null, upgrade: { hold: '1h' } } });
  const because = { status: 'False', reason: 'HoldingUpgrade', message: /set spec\.version to v1\.36/ } as const;
  await bench.untilCondition('c1', 'UpgradeHoldEnded', because, limitMs);
  expect((await bench.get('c1')).status?.versions).toEqual([{ version: older, replicas: 1 }]);
  expect(await saysOfItself()).toMatchObject({ gitVersion: kubernetesVersion, emulationMinor: '36' });
  await write(['emulated']);

  await bench.patch('c1', { spec: { version: older } });
  await bench.untilRolledOut('c1');
  expect(await saysOfItself()).toMatchObject({ gitVersion: older });
  expect(await configMaps()).toEqual(['emulated']);
  await write([], ['emulated']);
});

test(
  'hcp rollback takes a control plane back to its minor and its etcd, and says before what is lost',
  async () => {
    await write(['kept', 'changed', 'deleted']);
    await bench.patch('c1', { spec: { version: kubernetesVersion, upgrade: { hold: '0s' } } });
    const { etcd: newest } = defaultsFor(kubernetesVersion);
    await until(`etcd ${newest}`, async () => (await etcdVersions())?.every((version) => version === newest), limitMs);
    await bench.untilReady('c1', limitMs);
    await write(['changed', 'created'], ['deleted']);

    const refused = bench.patch('c1', { spec: { version: older } });
    await expect(refused).rejects.toThrow(/run hcp rollback/);
    const asked = await bench.hcp.run('rollback', 'c1', '-n', namespace).ended;
    expect(asked).toMatchObject({
      code: 2,
      err: expect.stringMatching(/configmaps: \d+ changed, 1 created, 1 deleted/),
    });
    expect(asked.err).toContain(`from Kubernetes ${kubernetesVersion} to ${older}, and from etcd ${newest} to`);
    expect(asked.err).toMatch(/taken \S+ ago for the change of Kubernetes 1\.36 to 1\.37/);
    expect(await configMaps()).toEqual(['changed', 'created', 'kept']);

    const begun = performance.now();
    const back = await bench.hcp.run('rollback', 'c1', '-n', namespace, '--yes', '--wait').ended;
    expect(back).toMatchObject({ code: 0, out: expect.stringContaining(`with Kubernetes ${older}`) });
    const seconds = (performance.now() - begun) / 1000;
    expect(await configMaps()).toEqual(['changed', 'deleted', 'kept']);
    await bench.untilReady('c1', limitMs);
    const { status } = await bench.get('c1');
    expect(status?.versions).toEqual([{ version: older, replicas: 1 }]);
    const { etcd } = defaultsFor(older);
    expect(await etcdVersions()).toEqual([etcd]);
    for (const component of ['controller-manager', 'scheduler'] as const) {
      expect(JSON.stringify(await bench.pods('c1', component))).toContain(`kube-${component}:${older}`);
    }
    await recordFault({
      fault: 'an upgrade of Kubernetes by a minor is taken back with hcp rollback, with that of etcd',
      observed:
        'the command lists what is lost by resource; no API server of the newer minor starts on the restored data, and none of the older one on the newer data',
      recoverySeconds: seconds,
      dataLost: 'what was written since the backup before the upgrade',
    });
  },
  2 * limitMs,
);
