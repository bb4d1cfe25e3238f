import { beforeAll, expect, it } from 'vitest';
import { fieldManager } from '../../constructs/api/group.ts';
import {
  CiliumNetworkPolicy,
  ConfigMap,
  Deployment,
  NetworkPolicy,
  type Resource,
  Secret,
} from '../../constructs/api/resources.ts';
import { objectLabels } from '../../constructs/cluster/labels.ts';
import { OperatorProcess } from '../support/loop/operator-process.ts';
import { completeWorld, orderedWorld } from '../support/loop/scenario.ts';
import type { SurroundingWorld } from '../support/loop/surrounding-world.ts';
import { NamespaceObjects } from '../support/memory-cluster/controlled-objects.ts';
import type { StoredObject } from '../support/memory-world.ts';
import { namespace } from '../support/scope.ts';

let complete: SurroundingWorld;
beforeAll(async () => {
  complete = await completeWorld();
});

/** Applies an object named `old` as an earlier release of the operator would have. */
async function applyOld({ user }: SurroundingWorld, { apiVersion, kind }: Resource): Promise<void> {
  const metadata = { name: 'old', namespace, labels: objectLabels('c1', 'api-server') };
  await user.apply({ apiVersion, kind, metadata }, { fieldManager });
}

const deleted = ({ management }: SurroundingWorld) =>
  management.writes.filter((write) => write.startsWith('delete ')).map((write) => write.replace(`${namespace}/`, ''));

/** Makes a change, and lets an operator go on until nothing is left to do. */
async function after(world: SurroundingWorld, change: () => Promise<void>): Promise<string[]> {
  const operator = await OperatorProcess.start(world);
  await change();
  await operator.untilSettled();
  await operator.stop();
  return deleted(world).sort();
}

/** Makes a change, and lets an operator look once while Kubernetes does nothing. */
async function afterOnePass(world: SurroundingWorld, change: () => Promise<void>): Promise<string[]> {
  const operator = await OperatorProcess.start(world);
  await operator.pass();
  await change();
  await operator.heard();
  await operator.pass();
  await operator.stop();
  return deleted(world).sort();
}

it('takes nothing away where the spec has not changed', () => {
  expect(deleted(complete)).toEqual([]);
});

it('takes away what is not rendered any more', async () => {
  const world = complete.copy();
  await applyOld(world, ConfigMap);
  const gone = await after(world, () => world.change({ replicas: 1 }));
  expect(gone).toEqual(['delete ConfigMap old', 'delete PodDisruptionBudget c1-api-server']);
});

it('takes away what belongs to a tunnel that nobody dials any more', async () => {
  const hosts = { apiHost: 'api.example.test', konnectivityHost: 'agents.example.test' };
  const world = await completeWorld({ exposure: { ingress: hosts }, inClusterAccess: 'Proxy' });
  const gone = await after(world, () => world.change({ inClusterAccess: 'Policy' }));
  expect(gone).toEqual(['delete ConfigMap c1-tunnel', 'delete Ingress c1-tunnel']);
});

it('takes nothing away while a phase waits, for then not everything is known that is rendered', async () => {
  const world = await orderedWorld();
  expect(await afterOnePass(world, () => applyOld(world, ConfigMap))).toEqual([]);
});

it('does not wait for pods of add-ons, which an ill node of the hosted cluster may lack', async () => {
  const world = complete.copy();
  await applyOld(world, ConfigMap);
  const gone = await afterOnePass(world, async () => {
    await applyOld(world, Deployment);
    makeUnavailable(new NamespaceObjects(world.hosted, 'kube-system'), 'coredns');
  });
  expect(gone).toEqual(['delete ConfigMap old', 'delete Deployment old']);
});

it('waits for pods of its own', async () => {
  const world = complete.copy();
  makeUnavailable(world.objects, 'c1-scheduler');
  expect(await afterOnePass(world, () => applyOld(world, ConfigMap))).toEqual([]);
});

function makeUnavailable(objects: NamespaceObjects, name: string): void {
  const deployment = objects.get<StoredObject>(Deployment, name);
  if (!deployment) throw new Error(`there is no Deployment ${name}`);
  const status = { observedGeneration: deployment.metadata.generation ?? 0, replicas: 1, updatedReplicas: 1 };
  objects.put({ ...deployment, status });
}

const policies = ['api-server', 'controller-manager', 'etcd', 'etcd-restore', 'etcd-verify', 'scheduler'].map(
  (name) => `delete ${NetworkPolicy.kind} c1-${name}`,
);

it.each<[string, (world: SurroundingWorld) => Promise<void>]>([
  ['they are disabled', (world) => world.change({ networkPolicy: 'Disabled' })],
  ["Cilium's take their place", (world) => world.define(CiliumNetworkPolicy)],
])('takes policies away as soon as %s, also while another phase waits', async (_, change) => {
  const world = await orderedWorld();
  expect(await afterOnePass(world, () => change(world))).toEqual(policies);
});

it('takes no policies away while the ones in their place are not there', async () => {
  const world = complete.copy();
  expect(await afterOnePass(world, () => world.change({ networkPolicy: 'CiliumNetworkPolicy' }))).toEqual([]);
});

it('never takes away Secrets, nor what somebody else labelled', async () => {
  const world = complete.copy();
  const gone = await after(world, async () => {
    await applyOld(world, Secret);
    const labels = { ...objectLabels('c1', 'api-server'), 'app.kubernetes.io/managed-by': 'somebody' };
    const { apiVersion, kind } = ConfigMap;
    await world.user.apply(
      { apiVersion, kind, metadata: { name: 'theirs', namespace, labels } },
      { fieldManager: 'user' },
    );
  });
  expect(gone).toEqual([]);
});
