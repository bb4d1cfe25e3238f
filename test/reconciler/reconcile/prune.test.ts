import { beforeAll, expect, it } from 'vitest';
import { fieldManager } from '../../../constructs/api/group.ts';
import {
  CiliumNetworkPolicy,
  ConfigMap,
  Deployment,
  NetworkPolicy,
  type Resource,
  Secret,
} from '../../../constructs/api/resources.ts';
import { objectLabels } from '../../../constructs/cluster/labels.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster, orderedCluster } from '../../support/loop/scenario.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { NamespaceObjects } from '../../support/memory-cluster/controlled-objects.ts';
import type { StoredObject } from '../../support/memory-objects.ts';
import { namespace } from '../../support/scope.ts';

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeCluster();
});

/** Applies an object named `old` as an earlier release of the operator would have. */
async function applyOld({ user }: MemoryCluster, { apiVersion, kind }: Resource): Promise<void> {
  const metadata = { name: 'old', namespace, labels: objectLabels('c1', 'api-server') };
  await user.apply({ apiVersion, kind, metadata }, { fieldManager });
}

const deleted = ({ management }: MemoryCluster) =>
  management.writes.filter((write) => write.startsWith('delete ')).map((write) => write.replace(`${namespace}/`, ''));

/** Makes a change, and runs an operator until nothing is left to do. */
async function after(managementCluster: MemoryCluster, change: () => Promise<void>): Promise<string[]> {
  const operator = await OperatorProcess.start(managementCluster);
  await change();
  await operator.untilSettled();
  await operator.stop();
  return deleted(managementCluster).sort();
}

/** Makes a change, and reconciles once while Kubernetes' controllers do nothing. */
async function afterOneReconcile(managementCluster: MemoryCluster, change: () => Promise<void>): Promise<string[]> {
  const operator = await OperatorProcess.start(managementCluster);
  await operator.reconcile();
  await change();
  await operator.untilObserved();
  await operator.reconcile();
  await operator.stop();
  return deleted(managementCluster).sort();
}

it('the operator deletes nothing if the spec has not changed', () => {
  expect(deleted(complete)).toEqual([]);
});

it('the operator deletes objects that are not rendered any more', async () => {
  const managementCluster = complete.copy();
  await applyOld(managementCluster, ConfigMap);
  const gone = await after(managementCluster, () => managementCluster.change({ replicas: 1 }));
  expect(gone).toEqual([
    'delete ConfigMap c1-revision-1',
    'delete ConfigMap old',
    'delete PodDisruptionBudget c1-api-server',
  ]);
});

it('the operator deletes the objects of a tunnel that is not used any more', async () => {
  const hosts = { apiHost: 'api.example.test', konnectivityHost: 'agents.example.test' };
  const managementCluster = await completeCluster({ exposure: { ingress: hosts }, inClusterAccess: 'Proxy' });
  const gone = await after(managementCluster, () => managementCluster.change({ inClusterAccess: 'Policy' }));
  expect(gone).toEqual(['delete ConfigMap c1-revision-1', 'delete ConfigMap c1-tunnel', 'delete Ingress c1-tunnel']);
});

it('the operator deletes nothing while a phase waits, because not all rendered objects are known then', async () => {
  const managementCluster = await orderedCluster();
  expect(await afterOneReconcile(managementCluster, () => applyOld(managementCluster, ConfigMap))).toEqual([]);
});

it('the operator does not wait for pods of add-ons, which a failed node of the hosted cluster may lack', async () => {
  const managementCluster = complete.copy();
  await applyOld(managementCluster, ConfigMap);
  const gone = await afterOneReconcile(managementCluster, async () => {
    await applyOld(managementCluster, Deployment);
    makeUnavailable(new NamespaceObjects(managementCluster.hosted, 'kube-system'), 'coredns');
  });
  expect(gone).toEqual(['delete ConfigMap old', 'delete Deployment old']);
});

it('the operator waits for pods of the control plane', async () => {
  const managementCluster = complete.copy();
  makeUnavailable(managementCluster.objects, 'c1-scheduler');
  expect(await afterOneReconcile(managementCluster, () => applyOld(managementCluster, ConfigMap))).toEqual([]);
});

function makeUnavailable(objects: NamespaceObjects, name: string): void {
  const deployment = objects.get<StoredObject>(Deployment, name);
  if (!deployment) throw new Error(`there is no Deployment ${name}`);
  const status = { observedGeneration: deployment.metadata.generation ?? 0, replicas: 1, updatedReplicas: 1 };
  objects.put({ ...deployment, status });
}

const policies = [
  'api-server',
  'api-server-check',
  'controller-manager',
  'etcd',
  'etcd-restore',
  'etcd-verify',
  'scheduler',
].map((name) => `delete ${NetworkPolicy.kind} c1-${name}`);

it("the operator deletes policies as soon as Cilium's take their place, also while another phase waits", async () => {
  const managementCluster = await orderedCluster();
  const change = () => managementCluster.define(CiliumNetworkPolicy);
  expect(await afterOneReconcile(managementCluster, change)).toEqual(policies);
});

it('the operator deletes no policies while their replacements cannot be applied', async () => {
  const managementCluster = complete.copy();
  expect(
    await afterOneReconcile(managementCluster, () =>
      managementCluster.change({ networkPolicy: 'CiliumNetworkPolicy' }),
    ),
  ).toEqual([]);
});

it('the operator never deletes Secrets, nor objects that other clients labelled', async () => {
  const managementCluster = complete.copy();
  const gone = await after(managementCluster, async () => {
    await applyOld(managementCluster, Secret);
    const labels = { ...objectLabels('c1', 'api-server'), 'app.kubernetes.io/managed-by': 'somebody' };
    const { apiVersion, kind } = ConfigMap;
    await managementCluster.user.apply(
      { apiVersion, kind, metadata: { name: 'theirs', namespace, labels } },
      { fieldManager: 'user' },
    );
  });
  expect(gone).toEqual([]);
});
