import { beforeAll, expect, it } from 'vitest';
import { ConfigMap, Secret } from '../../constructs/api/resources.ts';
import { objectLabels } from '../../constructs/control-plane/labels.ts';
import { mergeFacts, type PhaseResult } from '../../reconciler/graph.ts';
import type { ApplySet } from '../../reconciler/kube/apply-set.ts';
import { identityOf, type KubeObject } from '../../reconciler/kube/object.ts';
import { scheduler } from '../../reconciler/phases/controllers.ts';
import { coreDNS } from '../../reconciler/phases/workload/add-ons.ts';
import { prune } from '../../reconciler/prune.ts';
import { verdict } from '../../reconciler/verdict.ts';
import { bringUp, pass } from '../support/bring-up.ts';
import { MemoryWorld } from '../support/memory-world.ts';
import { type ScopeChanges, scopeOf } from '../support/scope.ts';

/** Notes what is surplus instead of deleting it. */
class SurplusNotes implements Pick<ApplySet, 'prune'> {
  names: string[] | undefined;

  async prune(_: string, keep: readonly KubeObject[], inventory: readonly KubeObject[]): Promise<KubeObject[]> {
    const kept = new Set(keep.map(identityOf));
    const surplus = inventory.filter((object) => !kept.has(identityOf(object)));
    this.names = surplus.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    return surplus;
  }
}

async function surplusIn(
  world: MemoryWorld,
  results: readonly PhaseResult[],
  changes: ScopeChanges = {},
): Promise<string[] | undefined> {
  const notes = new SurplusNotes();
  const facts = mergeFacts(results.map((result) => result.facts));
  await prune(notes, 'team/c1', { cluster: scopeOf(world, changes).cluster, world, facts }, results);
  return notes.names;
}

const world = new MemoryWorld();
let complete: PhaseResult[];
beforeAll(async () => {
  complete = await bringUp(world);
});

it('finds nothing surplus where the spec has not changed', async () => {
  expect(await surplusIn(world, complete)).toEqual([]);
});

it('finds what is not rendered any more', async () => {
  const changed = world.copy();
  changed.put({
    apiVersion: ConfigMap.apiVersion,
    kind: ConfigMap.kind,
    metadata: { name: 'old', labels: objectLabels('c1', 'api-server') },
  });
  const changes = { spec: { replicas: 1 } };
  const results = await bringUp(changed, changes);
  expect(await surplusIn(changed, results, changes)).toEqual(['ConfigMap old', 'PodDisruptionBudget c1-api-server']);
});

it('finds what belongs to a tunnel that nobody dials any more', async () => {
  const hosts = { apiHost: 'api.example.test', konnectivityHost: 'agents.example.test' };
  const exposure = { ingress: hosts };
  const routed = new MemoryWorld();
  await bringUp(routed, { spec: { exposure, inClusterAccess: 'Proxy' } });
  const changes = { spec: { exposure, inClusterAccess: 'Policy' } };
  const results = await bringUp(routed, changes);
  expect(await surplusIn(routed, results, changes)).toEqual(['ConfigMap c1-tunnel', 'Ingress c1-tunnel']);
});

it('says nothing while a phase waits, for then not everything is known that is rendered', async () => {
  const unfinished = new MemoryWorld();
  const labels = objectLabels('c1', 'api-server');
  unfinished.put({ apiVersion: ConfigMap.apiVersion, kind: ConfigMap.kind, metadata: { name: 'old', labels } });
  expect(await surplusIn(unfinished, await pass(unfinished))).toEqual([]);
});

it.each([
  ['does not wait for pods of add-ons, which an ill node of the hosted cluster may lack', coreDNS, ['ConfigMap old']],
  ['waits for pods of its own', scheduler, []],
])('%s', async (_, waiting, surplus) => {
  const changed = world.copy();
  const labels = objectLabels('c1', 'api-server');
  changed.put({ apiVersion: ConfigMap.apiVersion, kind: ConfigMap.kind, metadata: { name: 'old', labels } });
  const results = complete.map((result) =>
    result.phase === waiting ? { ...result, isDone: false, verdict: verdict('False', 'WaitingForPods') } : result,
  );
  expect(await surplusIn(changed, results)).toEqual(surplus);
});

it.each<[string, ScopeChanges]>([
  ['they are disabled', { spec: { networkPolicy: 'Disabled' } }],
  ["Cilium's take their place", { surroundings: { servedVersions: () => ['v2'] } }],
])('finds policies as soon as %s, also while another phase waits', async (_, changes) => {
  const unfinished = new MemoryWorld();
  await pass(unfinished);
  expect(await surplusIn(unfinished, await pass(unfinished, changes), changes)).toEqual(policyNames);
});

it('says nothing of policies while the ones in their place are not there', async () => {
  const changed = world.copy();
  const changes = { spec: { networkPolicy: 'CiliumNetworkPolicy' } };
  expect(await surplusIn(changed, await pass(changed, changes), changes)).toBeUndefined();
});

const policyNames = ['api-server', 'controller-manager', 'scheduler', 'etcd', 'etcd-restore', 'etcd-verify'].map(
  (name) => `NetworkPolicy c1-${name}`,
);

it('never looks at Secrets nor at what somebody else labelled', async () => {
  const shared = world.copy();
  shared.put({
    apiVersion: Secret.apiVersion,
    kind: Secret.kind,
    metadata: { name: 'old', labels: objectLabels('c1', 'certificates') },
  });
  const labels = { 'cluster.x-k8s.io/cluster-name': 'c1' };
  shared.put({ apiVersion: ConfigMap.apiVersion, kind: ConfigMap.kind, metadata: { name: 'theirs', labels } });
  expect(await surplusIn(shared, complete)).toEqual([]);
});
