import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  apiServerSlice,
  Cluster,
  ClusterRole,
  EndpointSlice,
  HostedControlPlane,
  HostedControlPlaneComponentTemplate,
  NetworkPolicy,
  Node,
  type Resource,
  ServiceCIDR,
} from '../../../../constructs/api/resources.ts';
import { objectLabels } from '../../../../constructs/cluster/labels.ts';
import { renderControlPlane } from '../../../../constructs/control-plane/chart.ts';
import type { KubeObject, ObjectMeta } from '../../../../reconciler/kube/object.ts';
import { ManagementCluster } from '../../../../reconciler/clusters/management/cache.ts';
import { reportDenied } from '../../../../reconciler/operator/report-denied.ts';
import { installRights, operatorUser } from '../../../support/loop/shipped-rights.ts';
import { MemoryCluster } from '../../../support/loop/memory-cluster.ts';
import { MemoryClient } from '../../../support/memory-cluster/client.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';
import { clusterOf, knownFacts } from '../../../support/rendered-cluster.ts';
import { namespace } from '../../../support/scope.ts';

interface Rule {
  readonly resources?: readonly string[];
}

const somebody = { fieldManager: 'somebody' };
const minuteMs = 60_000;

let clock: ManualClock;
let cluster: MemoryCluster;
let management: ManagementCluster;
beforeEach(async () => {
  clock = new ManualClock();
  cluster = new MemoryCluster(clock);
  for (const name of [namespace, 'default'])
    await cluster.user.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, somebody);
  for (const resource of [Cluster, HostedControlPlane, HostedControlPlaneComponentTemplate])
    await cluster.define(resource);
  installRights(cluster.management);
  management = operator();
});
afterEach(() => management.stop());

const operator = (denied: readonly string[] = []) =>
  new ManagementCluster({
    client: new MemoryClient(cluster.management, operatorUser()),
    clock,
    denied,
    onError: () => {},
  });

const put = async ({ apiVersion, kind }: Resource, metadata: ObjectMeta, fields: object) => {
  const object: KubeObject = { apiVersion, kind, metadata, ...fields };
  cluster.management.store.put(object);
  await settled();
};
const apiServers = (...addresses: string[]) =>
  put(
    EndpointSlice,
    { namespace: 'default', name: apiServerSlice },
    { addressType: 'IPv4', endpoints: addresses.map((address) => ({ addresses: [address] })) },
  );
const node = (name: string, podCIDR: string, address: string, ready = true) => {
  const conditions = [{ type: 'Ready', status: String(ready) }];
  const addresses = [
    { type: 'InternalIP', address },
    { type: 'Hostname', address: name },
  ];
  return put(Node, { name }, { spec: { podCIDR, podCIDRs: [podCIDR] }, status: { addresses, conditions } });
};
const services = (...cidrs: string[]) => put(ServiceCIDR, { name: 'kubernetes' }, { spec: { cidrs } });

describe('the networks that are denied to control planes', () => {
  it('are those of Services, pods and nodes, and the addresses of the API servers', async () => {
    await services('10.96.0.0/12', 'fd00:96::/112');
    await node('a', '10.244.0.0/24', '192.0.2.10');
    await node('b', '10.244.3.0/24', '192.0.2.20');
    await apiServers('192.0.2.10', '198.51.100.7');
    const found = await management.start();
    expect(found).toEqual({
      unread: [],
      pods: ['10.244.0.0/22'],
      services: ['10.96.0.0/12', 'fd00:96::/112'],
      nodes: 2,
      all: ['10.244.0.0/22', '10.96.0.0/12', '192.0.2.10/32', '192.0.2.20/32', '198.51.100.7/32', 'fd00:96::/112'],
    });
    await node('c', '10.244.9.0/24', '192.0.2.30');
    expect(management.deniedNetworks).toContain('192.0.2.30/32');
    expect(management.deniedNetworks).toContain('10.244.0.0/20');
  });

  it('are without what the operator may not read, and it says so at its start', async () => {
    await services('10.96.0.0/12');
    await node('a', '10.244.0.0/24', '192.0.2.10');
    for (const role of cluster.management.store.list(ClusterRole) as (KubeObject & { rules: Rule[] })[]) {
      const rules = role.rules.map((rule) => ({
        ...rule,
        resources: rule.resources?.filter((name) => name !== 'nodes' && name !== 'servicecidrs'),
      }));
      cluster.management.store.put({ ...role, rules } as KubeObject);
    }
    const found = await management.start();
    expect([...found.unread].sort()).toEqual(['Node', 'ServiceCIDR']);
    const lines: string[] = [];
    const note = (...args: unknown[]) => void lines.push(String(args.at(-1)));
    reportDenied({ info: () => {}, warn: note }, found);
    expect(lines.join('\n')).toMatch(/may not list .*Node.*\n.*nothing is denied/);
  });

  it('are not changed by what Nodes report all the time', async () => {
    await node('a', '10.244.0.0/24', '192.0.2.10');
    await management.start();
    const before = management.deniedNetworks;
    await node('a', '10.244.0.0/24', '192.0.2.10', false);
    expect(management.deniedNetworks).toBe(before);
  });

  it('keep for ten minutes what policies have denied before the operator started', async () => {
    await apiServers('192.0.2.1');
    await put(
      NetworkPolicy,
      { namespace, name: 'c1-api-server', labels: objectLabels('c1', 'api-server') },
      { spec: { egress: [{ to: [{ ipBlock: { cidr: '0.0.0.0/0', except: ['192.0.2.9/32', '203.0.113.0/24'] } }] }] } },
    );
    await management.start();
    expect(management.deniedNetworks).toEqual(['192.0.2.1/32', '192.0.2.9/32']);
    await clock.advance(11 * minuteMs);
    expect(management.deniedNetworks).toEqual(['192.0.2.1/32']);
  });
});

describe('of 1,000 control planes, when the API servers of the management cluster change six times', () => {
  const keys = Array.from({ length: 1000 }, (_, index) => `c${index}`);
  /** The rendered policies of a control plane by what is denied. */
  const rendered = new Map<string, string>();
  const policies = (denied: readonly string[]): string => {
    const key = denied.join();
    const facts = { ...knownFacts, managementNetwork: { denied } };
    if (!rendered.has(key))
      rendered.set(key, JSON.stringify(renderControlPlane(clusterOf(), facts, 'network-policies')));
    return rendered.get(key) ?? '';
  };

  /** What is applied for each control plane, and how often it was written. */
  const applied = new Map<string, string>();
  let writes = 0;
  let reports = 0;
  const reconcile = (name: string): void => {
    const wanted = policies(management.sharedResourcesOf(namespace, name).deniedNetworks());
    if (applied.get(name) !== wanted) writes += 1;
    applied.set(name, wanted);
  };
  const started = async () => {
    await management.start();
    management.onSharedResourcesChange((key) => {
      reports += 1;
      reconcile(key.split('/')[1] ?? '');
    });
    applied.clear();
    keys.forEach(reconcile);
    expect(writes).toBeGreaterThanOrEqual(keys.length);
    writes = 0;
    reports = 0;
  };
  const denies = (address: string) => [...applied.values()].filter((text) => text.includes(`"${address}/32"`)).length;

  const rollout = [
    ['192.0.2.5', '192.0.2.8'],
    ['192.0.2.5', '192.0.2.8', '192.0.2.11'],
    ['192.0.2.8', '192.0.2.11'],
    ['192.0.2.8', '192.0.2.11', '192.0.2.22'],
    ['192.0.2.11', '192.0.2.22'],
    ['192.0.2.11', '192.0.2.22', '192.0.2.33'],
  ];

  it.each([
    ['a range of the platform has', () => void (management = operator(['192.0.2.0/24']))],
    [
      'Nodes have',
      async () => {
        for (const last of [1, 5, 8, 11, 22, 33]) await node(`n${last}`, `10.244.${last}.0/24`, `192.0.2.${last}`);
      },
    ],
  ])('none is written where %s the addresses', async (_, prepare) => {
    await prepare();
    await apiServers('192.0.2.1', '192.0.2.5', '192.0.2.8');
    await started();
    for (const addresses of rollout) {
      await apiServers(...addresses);
      await clock.advance(minuteMs);
    }
    await clock.advance(20 * minuteMs);
    expect([writes, reports]).toEqual([0, 0]);
  });

  it('none is written when each server comes back with its address', async () => {
    const all = ['192.0.2.1', '192.0.2.5', '192.0.2.8'];
    await apiServers(...all);
    await started();
    for (const away of all) {
      await apiServers(...all.filter((address) => address !== away));
      await clock.advance(minuteMs);
      await apiServers(...all);
      await clock.advance(minuteMs);
    }
    expect([writes, reports]).toEqual([0, 0]);
  });

  it('each is written once for a new address, and once for all that have left, a few at a time', async () => {
    await apiServers('192.0.2.1', '192.0.2.5', '192.0.2.8');
    await started();
    for (const addresses of rollout) {
      const before = writes;
      await apiServers(...addresses);
      expect(writes - before).toBeLessThanOrEqual(25);
      await clock.advance(minuteMs);
      for (const address of ['192.0.2.1', '192.0.2.5', '192.0.2.8', ...addresses]) expect(denies(address)).toBe(1000);
    }
    expect(writes).toBe(3000);
    await clock.advance(7 * minuteMs);
    expect([writes, denies('192.0.2.1')]).toEqual([3000, 1000]);
    await clock.advance(4 * minuteMs);
    expect([writes, denies('192.0.2.1'), denies('192.0.2.33')]).toEqual([4000, 0, 1000]);
  });
});
