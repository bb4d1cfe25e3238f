import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { clusterNameLabel, clusterSecretType } from '../../../../constructs/api/group.ts';
import {
  apiServerSlice,
  Cluster,
  EndpointSlice,
  HostedControlPlane,
  HostedControlPlaneComponentTemplate,
  Secret,
} from '../../../../constructs/api/resources.ts';
import { objectLabels } from '../../../../constructs/cluster/labels.ts';
import { ApplySet } from '../../../../reconciler/kube/apply-set.ts';
import { ManagementCluster } from '../../../../reconciler/clusters/management/cache.ts';
import { createWriter } from '../../../../reconciler/clusters/management/writer.ts';
import { RequestCaches } from '../../../../reconciler/engine/tasks/request-cache.ts';
import { MemoryCluster } from '../../../support/loop/memory-cluster.ts';
import { Network } from '../../../support/loop/network.ts';
import { MemoryClient } from '../../../support/memory-cluster/client.ts';
import { installRights, operatorUser } from '../../../support/loop/shipped-rights.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';
import { clusterName, namespace } from '../../../support/scope.ts';

const somebody = { fieldManager: 'somebody' };

let client: MemoryClient;
let clock: ManualClock;
let cluster: MemoryCluster;
let management: ManagementCluster;
beforeEach(async () => {
  clock = new ManualClock();
  cluster = new MemoryCluster(clock);
  client = cluster.user;
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, somebody);
  const kinds = [Cluster, HostedControlPlane, HostedControlPlaneComponentTemplate];
  for (const resource of kinds) await cluster.define(resource);
  installRights(cluster.management);
  management = new ManagementCluster({
    client: new MemoryClient(cluster.management, operatorUser()),
    clock,
    onError: () => {},
  });
});
afterEach(() => management.stop());

const secret = (name: string, labels: Readonly<Record<string, string>>) => {
  const { apiVersion, kind } = Secret;
  return client.create({ apiVersion, kind, metadata: { namespace, name, labels }, type: clusterSecretType }, somebody);
};

const kept = (): string[] => management.list(Secret).map(({ metadata }) => metadata.name);

describe('the cache of the management cluster', () => {
  it('keeps Secrets of control planes, and no bootstrap Secret of a Machine', async () => {
    await secret('c1-apiserver', objectLabels(clusterName, 'certificates'));
    await secret('c1-workers-x7k2p', { [clusterNameLabel]: clusterName });
    await management.start();
    expect(kept()).toEqual(['c1-apiserver']);
  });

  it("keeps a user's CA with the label that Cluster API asks for, once the operator has adopted it", async () => {
    await secret('c1-ca', { [clusterNameLabel]: clusterName });
    await management.start();
    expect(kept()).toEqual([]);

    const applySet = new ApplySet({ client, fieldManager: 'us', lookup: () => undefined, clock });
    const names = { key: 'team/c1', namespace, name: 'c1', cluster: clusterName, infrastructure: undefined };
    const writer = createWriter({ client, applySet, management, requestCaches: new RequestCaches(clock), ...names });
    await writer.adopt(Secret, 'c1-ca');
    await settled();
    expect(kept()).toEqual(['c1-ca']);
  });

  it.each<[object, boolean]>([
    [{}, true],
    [{ namespace }, false],
    [{ watchFilter: 'shard-1' }, false],
  ])('with %j knows whether it sees the claims of all host names: %s', (limits, expected) => {
    const limited = new ManagementCluster({ client, clock, onError: () => {}, ...limits });
    expect(limited.sharedResourcesOf(namespace, clusterName).seesEveryClaim).toBe(expected);
  });

  it.each(['killed', 'lost'] as const)('says once that the API server that was %s is back', async (outage) => {
    const network = new Network(clock, () => 0);
    const { management: server } = cluster;
    const watching = new MemoryClient(server, operatorUser(), {
      before: network.send,
      receive: (events, signal) => network.receive(events, signal),
    });
    const reached = new ManagementCluster({ client: watching, clock, onError: () => {} });
    let returns = 0;
    reached.onReturned(() => (returns += 1));
    await reached.start();
    await clock.advance(60_000);
    network.cut(outage);
    await clock.advance(120_000);
    expect(returns).toBe(0);
    network.restore();
    await clock.advance(20_000);
    expect(returns).toBe(1);
    await reached.stop();
  });

  it('reports the addresses of the API servers, and a change of them to the control planes that asked for them', async () => {
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }, somebody);
    const { apiVersion, kind } = EndpointSlice;
    const slice = (name: string, ...addresses: string[]) => ({
      apiVersion,
      kind,
      metadata: { namespace: 'default', name },
      endpoints: addresses.map((address) => ({ addresses: [address] })),
    });
    await client.create(slice(apiServerSlice, '192.0.2.1'), somebody);
    await client.create(slice('somewhere-else', '192.0.2.99'), somebody);
    await management.start();
    const reported: string[] = [];
    management.onSharedResourcesChange((key) => reported.push(key));
    const shared = management.sharedResourcesOf(namespace, clusterName);
    expect(shared.deniedNetworks()).toEqual(['192.0.2.1/32']);

    await client.apply({ ...slice(apiServerSlice, '192.0.2.1', '2001:db8::1') }, { ...somebody, force: true });
    await settled();
    expect([reported, shared.deniedNetworks()]).toEqual([
      [`${namespace}/${clusterName}`],
      ['192.0.2.1/32', '2001:db8::1/128'],
    ]);
  });
});
