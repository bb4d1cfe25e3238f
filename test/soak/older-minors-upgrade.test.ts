import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { defaultsFor } from '../../constructs/cluster/versions.ts';
import { BusyCluster } from '../cluster/upgrade/busy-cluster.ts';
import { installAddon } from '../tools/testbed/addons.ts';
import { etcdModule, pinnedVersion } from '../tools/testbed/families.ts';
import { addMinor, type FurtherMinor } from '../tools/testbed/further-minor.ts';
import { instanceFrom } from '../tools/testbed/instance.ts';
import { gatewayName } from '../tools/testbed/traefik-objects.ts';

// A control plane from before mutating admission policies, whose pods reach it through proxies: every pod knows only its own.
const instance = instanceFrom(process.env, inject('testbed'));

let busy: BusyCluster;
let minors: readonly [FurtherMinor, FurtherMinor, FurtherMinor];

beforeAll(async () => {
  const report = (line: string) => console.log(line);
  const add = (minor: string) => addMinor(instance, minor, report);
  minors = [await add('1.33'), await add('1.34'), await add('1.35')];
  const [first, ...next] = minors;
  // From here upstream supports etcd 3.6. The operator goes by 3.5.26 itself, which cannot be built here.
  const etcd = (await pinnedVersion('etcd-3.5', etcdModule)).slice(1);
  busy = await BusyCluster.open({
    namespace: 'older-minors',
    first,
    next,
    spec: { etcd: { version: etcd }, exposure: { gateway: gatewayName } },
    givenEtcd: { [etcd]: 33 },
    before: (instance) => installAddon(instance, 'traefik', () => {}),
  });
});

afterAll(() => busy?.close());

describe('while users never stop', () => {
  test('pods of Kubernetes 1.33 reach their API server through proxies', expectProxies);

  test('Kubernetes 1.33 becomes 1.34, whose pods keep their proxies, and one of 1.34 joins', async () => {
    const [first, second] = minors;
    const { version } = second;
    expect(await busy.upgrade(version, { etcd: { version: null } })).toEqual([{ version, replicas: 2 }]);
    await busy.expectServes(first.version);
    await expectProxies();
    await busy.expectJoins(second);
  });

  test('etcd 3.5 becomes 3.6 at last', async () => {
    const { etcd } = defaultsFor(minors[1].version);
    expect(await busy.etcdOnce(etcd)).toEqual([etcd, etcd, etcd]);
  });

  test('Kubernetes 1.34 becomes 1.35, and the worker of 1.33 serves on', async () => {
    const [first, , { version }] = minors;
    expect(await busy.upgrade(version)).toEqual([{ version, replicas: 2 }]);
    const { etcd } = defaultsFor(version);
    expect(await busy.etcdOnce(etcd)).toEqual([etcd, etcd, etcd]);
    await busy.expectServes(first.version);
    await expectProxies();
  });

  test('every write has its answer and was seen, no call has failed, and the steps have kept their order', async () => {
    expect(await busy.end()).toEqual([]);
  });
});

/** The field is unset: a new control plane of 1.34 gets a policy. */
async function expectProxies(): Promise<void> {
  const { cluster } = busy;
  const { bench, api } = cluster;
  const { spec, status } = await bench.get(api.name);
  expect(spec['inClusterAccess']).toBeUndefined();
  expect(status?.inClusterAccess).toBe('Proxy');
  const state = ['rollout', 'status', 'daemonset/hosted-control-plane-proxy', '--timeout=60s'];
  expect(await cluster.kubectl(state)).toContain('successfully rolled out');
}
