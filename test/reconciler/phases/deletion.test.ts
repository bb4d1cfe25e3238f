import { beforeAll, describe, expect, it } from 'vitest';
import { IngressRouteTCP, PersistentVolumeClaim, Pod, Secret } from '../../../constructs/api/resources.ts';
import { type ComponentName, selectorLabels } from '../../../constructs/cluster/labels.ts';
import type { KubeObject, ObjectMeta } from '../../../reconciler/kube/object.ts';
import type { Outcome } from '../../../reconciler/engine/outcome.ts';
import { deleteControlPlane, waitForWorkers } from '../../../reconciler/phases/deletion.ts';
import type { DeletionScope } from '../../../reconciler/phases/scope.ts';
import { memoryClusterOf } from '../../support/loop/memory-cluster-of.ts';
import { completeCluster, orderedCluster, settleBy } from '../../support/loop/scenario.ts';
import { settle } from '../../support/management-controllers.ts';
import { Killed, type MemoryObjects, type StoredObject } from '../../support/memory-objects.ts';

/** A Secret that the operator did not create, although it has the Cluster's label: Cluster API sets that label too. */
const usersSecret: StoredObject = {
  apiVersion: Secret.apiVersion,
  kind: Secret.kind,
  metadata: { name: 'worker-bootstrap', labels: { 'cluster.x-k8s.io/cluster-name': 'c1' } },
};

let complete: MemoryObjects;
let owner: ObjectMeta;
beforeAll(async () => {
  const management = await completeCluster();
  owner = management.hostedControlPlane.metadata;
  complete = memoryClusterOf(management);
  complete.put(usersSecret);
});

/** A complete control plane in a cluster that rejects deletions in a wrong order. */
function controlPlane(): MemoryObjects {
  const management = complete.copy();
  management.refuse((object) => orderProblem(management, object));
  return management;
}

/** The reason why this deletion is wrong now: a pod still needs the object. */
function orderProblem(management: MemoryObjects, { kind, metadata }: KubeObject): Error | undefined {
  const runs = (...components: ComponentName[]) =>
    components.some((component) => management.list(Pod, selectorLabels('c1', component)).length > 0);
  const isNeeded = {
    StatefulSet: () => runs('api-server', 'controller-manager', 'scheduler'),
    PersistentVolumeClaim: () => runs('etcd'),
    Secret: () => runs('api-server', 'controller-manager', 'scheduler', 'etcd'),
  }[kind];
  return isNeeded?.() ? new Error(`${kind} ${metadata.name} is still needed`) : undefined;
}

function step(
  management: MemoryObjects,
  { retainVolumes = false, finalBackup = () => undefined, now = new Date(0) }: Partial<DeletionScope> = {},
): Promise<Outcome> {
  const scope = { cluster: 'c1', owner, retainVolumes, finalBackup, now };
  return deleteControlPlane({ ...scope, reader: management, writer: management });
}

/** Repeats the step until it is done, and lets Kubernetes' controllers act after each; returns the reasons for waiting. */
async function deleteAll(management: MemoryObjects, changes: Partial<DeletionScope> = {}): Promise<string[]> {
  const reasons: string[] = [];
  for (let count = 0; count < 20; count++) {
    const outcome = await step(management, changes);
    if (outcome.kind === 'done') return reasons;
    reasons.push(`${outcome.reason}: ${outcome.message}`);
    settle(management);
  }
  throw new Error(`still waiting: ${reasons.at(-1)}`);
}

describe('deleting a control plane', () => {
  it('leaves only what the operator did not create, and waits for pods and volumes in order', async () => {
    const management = controlPlane();
    expect(await deleteAll(management)).toEqual([
      'WaitingForPods: 4 pods of c1-controller-manager, c1-scheduler, c1-api-server still run',
      'WaitingForPods: 3 pods of c1-etcd still run',
      'WaitingForVolumes: 3 volume claims of etcd are being deleted',
    ]);
    expect(management.names).toEqual(['Secret worker-bootstrap']);
  });

  it.each(['haproxy', 'traefik'])('removes the host names of %s, and its routes', async (controller) => {
    const hosts = { apiHost: 'api.example.test', konnectivityHost: 'agents.example.test' };
    const ordered = await orderedCluster({ exposure: { ingress: { ...hosts, controller } } });
    await ordered.define(IngressRouteTCP);
    await settleBy(ordered);
    owner = ordered.hostedControlPlane.metadata;
    const management = memoryClusterOf(ordered);
    expect(management.names.filter((name) => name.startsWith('Ingress'))).toHaveLength(2);
    await deleteAll(management);
    expect(management.names).toEqual([]);
  });

  it('stops the clients of the API server before it, all in one reconcile', async () => {
    const management = controlPlane();
    await step(management);
    expect(management.writes).toEqual(
      ['controller-manager', 'scheduler', 'api-server'].map((name) => `delete Deployment c1-${name}`),
    );
  });

  it('converges when the process dies at every single write', async () => {
    const management = controlPlane();
    const errors: unknown[] = [];
    for (let run = 0; run < 100; run++) {
      management.dieAfter(1);
      try {
        if ((await step(management)).kind === 'done') break;
      } catch (error) {
        errors.push(error);
      }
      settle(management);
    }
    expect(errors.length).toBeGreaterThan(10);
    expect(errors.filter((error) => !(error instanceof Killed))).toEqual([]);
    expect(management.names).toEqual(['Secret worker-bootstrap']);
  });

  it('deletes etcd only after the final backup, which is taken when nothing writes any more', async () => {
    const management = controlPlane();
    let isAwaited = true;
    let asked = 0;
    const finalBackup = () => {
      asked += 1;
      return isAwaited
        ? ({ reason: 'WaitingForFinalBackup', message: 'the store is away', afterMs: 60_000 } as const)
        : undefined;
    };
    await step(management, { finalBackup });
    expect(asked).toBe(0);
    settle(management);
    const outcome = await step(management, { finalBackup });
    expect(outcome).toMatchObject({ reason: 'WaitingForFinalBackup', message: 'the store is away', afterMs: 60_000 });
    expect(management.names).toContain('StatefulSet c1-etcd');
    isAwaited = false;
    await deleteAll(management, { finalBackup });
    expect(management.names).toEqual(['Secret worker-bootstrap']);
  });

  it('repeats nothing while it waits, and does nothing more when it is done', async () => {
    const management = controlPlane();
    await step(management);
    const { length } = management.writes;
    await step(management);
    expect(management.writes).toHaveLength(length);
    await deleteAll(management);
    const total = management.writes.length;
    expect(await step(management)).toMatchObject({ kind: 'done' });
    expect(management.writes).toHaveLength(total);
  });

  it("keeps etcd's volumes, and the keys without which they are useless, if they are to be retained", async () => {
    const management = controlPlane();
    await deleteAll(management, { retainVolumes: true });
    const claims = [0, 1, 2].map((ordinal) => `PersistentVolumeClaim etcd-data-c1-etcd-${ordinal}`);
    const keys = ['ca', 'encryption', 'etcd', 'proxy', 'sa'].map((name) => `Secret c1-${name}`);
    expect(management.names).toEqual([...claims, ...keys, 'Secret worker-bootstrap']);
    expect(management.list(Secret, {}).flatMap(({ metadata }) => metadata.ownerReferences ?? [])).toEqual([]);
  });

  it('keeps claims whose labels only resemble those of etcd', async () => {
    const management = controlPlane();
    const { apiVersion, kind } = PersistentVolumeClaim;
    management.put({ apiVersion, kind, metadata: { name: 'restored-data', labels: selectorLabels('c1', 'etcd') } });
    await deleteAll(management);
    expect(management.names).toContain('PersistentVolumeClaim restored-data');
  });

  it("keeps a user's CA and a Secret that another owner controls", async () => {
    const management = controlPlane();
    const ca = management.get<StoredObject>(Secret, 'c1-ca')!;
    management.put({ ...ca, metadata: { ...ca.metadata, ownerReferences: [] } });
    const proxy = management.get<StoredObject>(Secret, 'c1-proxy')!;
    const other = { apiVersion: 'v1', kind: 'X', name: 'x', uid: 'other', controller: true };
    management.put({ ...proxy, metadata: { ...proxy.metadata, ownerReferences: [other] } });
    await deleteAll(management);
    expect(management.names).toEqual(['Secret c1-ca', 'Secret c1-proxy', 'Secret worker-bootstrap']);
  });

  it('of a second object that references the same Cluster touches nothing of the first one', async () => {
    const management = controlPlane();
    const before = management.names;
    const outcome = await deleteControlPlane({
      cluster: 'c1',
      owner: { name: 'second', uid: 'uid-of-the-second' },
      retainVolumes: false,
      finalBackup: () => undefined,
      now: new Date(0),
      reader: management,
      writer: management,
    });
    expect(outcome).toMatchObject({ kind: 'done' });
    expect(management.writes).toEqual([]);
    expect(management.names).toEqual(before);
  });

  it('names the node that does not confirm the end of a pod', async () => {
    const management = controlPlane();
    await step(management);
    const [pod] = management.list<StoredObject>(Pod, selectorLabels('c1', 'api-server'));
    if (!pod) throw new Error('there is no API server');
    management.put({ ...pod, metadata: { ...pod.metadata, deletionTimestamp: new Date(0).toISOString() } });
    const waits = async (seconds: number) => step(management, { now: new Date(seconds * 1000) });
    expect(await waits(20)).toMatchObject({ message: expect.not.stringContaining('node-1'), afterMs: 10_000 });
    expect(await waits(30)).toMatchObject({
      message: expect.stringMatching(/still run; pod .* because node node-1 does not confirm its end/),
    });
  });

  it('starts only when no workers are left, and is requeued', async () => {
    const management = controlPlane();
    const scope = { cluster: 'c1', owner, retainVolumes: false, finalBackup: () => undefined, now: new Date(0) };
    const workers = () => waitForWorkers({ ...scope, reader: management, writer: management });
    expect(await workers()).toBeUndefined();
    management.workersLeft = 2;
    expect(await workers()).toMatchObject({
      kind: 'wait',
      reason: 'WaitingForWorkersDeletion',
      message: expect.stringContaining(
        '2 Machines, MachineSets, MachineDeployments or MachinePools of cluster c1',
      ) as string,
      afterMs: 5000,
    });
    expect(management.writes).toEqual([]);
  });
});
