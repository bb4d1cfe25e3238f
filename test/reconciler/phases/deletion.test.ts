import { beforeAll, describe, expect, it } from 'vitest';
import { IngressRouteTCP, PersistentVolumeClaim, Pod, Secret } from '../../../constructs/api/resources.ts';
import { type ComponentName, selectorLabels } from '../../../constructs/cluster/labels.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import type { Outcome } from '../../../reconciler/engine/outcome.ts';
import { deleteControlPlane } from '../../../reconciler/phases/deletion.ts';
import type { DeletionScope } from '../../../reconciler/phases/scope.ts';
import { memoryWorldOf } from '../../support/loop/memory-world-of.ts';
import { completeWorld, orderedWorld, settleBy } from '../../support/loop/scenario.ts';
import { settle } from '../../support/management-controllers.ts';
import { Killed, type MemoryWorld, type StoredObject } from '../../support/memory-world.ts';

/** What is not ours, although it is labelled as the Cluster's: Cluster API does that too. */
const usersSecret: StoredObject = {
  apiVersion: Secret.apiVersion,
  kind: Secret.kind,
  metadata: { name: 'worker-bootstrap', labels: { 'cluster.x-k8s.io/cluster-name': 'c1' } },
};

let complete: MemoryWorld;
let ownerUid: string | undefined;
beforeAll(async () => {
  const world = await completeWorld();
  ownerUid = world.hostedControlPlane.metadata.uid;
  complete = memoryWorldOf(world);
  complete.put(usersSecret);
});

/** A control plane that is complete, in a world that refuses deletions out of order. */
function controlPlane(): MemoryWorld {
  const world = complete.copy();
  world.refuse((object) => orderProblem(world, object));
  return world;
}

/** What makes a deletion wrong at this moment: somebody still needs the object. */
function orderProblem(world: MemoryWorld, { kind, metadata }: KubeObject): Error | undefined {
  const runs = (...components: ComponentName[]) =>
    components.some((component) => world.list(Pod, selectorLabels('c1', component)).length > 0);
  const isNeeded = {
    StatefulSet: () => runs('api-server', 'controller-manager', 'scheduler'),
    PersistentVolumeClaim: () => runs('etcd'),
    Secret: () => runs('api-server', 'controller-manager', 'scheduler', 'etcd'),
  }[kind];
  return isNeeded?.() ? new Error(`${kind} ${metadata.name} is still needed`) : undefined;
}

function step(
  world: MemoryWorld,
  { retainVolumes = false, finalBackup = () => undefined }: Partial<DeletionScope> = {},
): Promise<Outcome> {
  const scope = { cluster: 'c1', ownerUid, retainVolumes, finalBackup };
  return deleteControlPlane({ ...scope, world, remover: world });
}

/** Steps until it is done, with Kubernetes doing its part after each; returns the reasons for waiting. */
async function deleteAll(world: MemoryWorld, changes: Partial<DeletionScope> = {}): Promise<string[]> {
  const reasons: string[] = [];
  for (let count = 0; count < 20; count++) {
    const outcome = await step(world, changes);
    if (outcome.kind === 'done') return reasons;
    reasons.push(`${outcome.reason}: ${outcome.message}`);
    settle(world);
  }
  throw new Error(`still waiting: ${reasons.at(-1)}`);
}

describe('deleting a control plane', () => {
  it('leaves nothing but what is not ours, and waits for pods and volumes in turn', async () => {
    const world = controlPlane();
    expect(await deleteAll(world)).toEqual([
      'WaitingForPods: 4 pods of c1-controller-manager, c1-scheduler, c1-api-server still run',
      'WaitingForPods: 3 pods of c1-etcd still run',
      'WaitingForVolumes: 3 volume claims of etcd are being deleted',
    ]);
    expect(world.names).toEqual(['Secret worker-bootstrap']);
  });

  it.each(['haproxy', 'traefik'])('takes back the host names of %s, and its routes', async (controller) => {
    const hosts = { apiHost: 'api.example.test', konnectivityHost: 'agents.example.test' };
    const ordered = await orderedWorld({ exposure: { ingress: { ...hosts, controller } } });
    await ordered.define(IngressRouteTCP);
    await settleBy(ordered);
    ownerUid = ordered.hostedControlPlane.metadata.uid;
    const world = memoryWorldOf(ordered);
    expect(world.names.filter((name) => name.startsWith('Ingress'))).toHaveLength(2);
    await deleteAll(world);
    expect(world.names).toEqual([]);
  });

  it('stops what uses the API server before it, and all of them in one pass', async () => {
    const world = controlPlane();
    await step(world);
    expect(world.writes).toEqual(
      ['controller-manager', 'scheduler', 'api-server'].map((name) => `delete Deployment c1-${name}`),
    );
  });

  it('converges when the process dies at every single write', async () => {
    const world = controlPlane();
    const errors: unknown[] = [];
    for (let life = 0; life < 100; life++) {
      world.dieAfter(1);
      try {
        if ((await step(world)).kind === 'done') break;
      } catch (error) {
        errors.push(error);
      }
      settle(world);
    }
    expect(errors.length).toBeGreaterThan(10);
    expect(errors.filter((error) => !(error instanceof Killed))).toEqual([]);
    expect(world.names).toEqual(['Secret worker-bootstrap']);
  });

  it('lets etcd go only after the last backup, which is taken when nothing writes any more', async () => {
    const world = controlPlane();
    let isAwaited = true;
    let asked = 0;
    const finalBackup = () => {
      asked += 1;
      return isAwaited ? { message: 'the store is away', afterMs: 60_000 } : undefined;
    };
    await step(world, { finalBackup });
    expect(asked).toBe(0);
    settle(world);
    const outcome = await step(world, { finalBackup });
    expect(outcome).toMatchObject({ reason: 'WaitingForFinalBackup', message: 'the store is away', afterMs: 60_000 });
    expect(world.names).toContain('StatefulSet c1-etcd');
    isAwaited = false;
    await deleteAll(world, { finalBackup });
    expect(world.names).toEqual(['Secret worker-bootstrap']);
  });

  it('does nothing twice while it waits, and nothing more when it is done', async () => {
    const world = controlPlane();
    await step(world);
    const { length } = world.writes;
    await step(world);
    expect(world.writes).toHaveLength(length);
    await deleteAll(world);
    const total = world.writes.length;
    expect(await step(world)).toMatchObject({ kind: 'done' });
    expect(world.writes).toHaveLength(total);
  });

  it("keeps etcd's volumes where they are to be retained", async () => {
    const world = controlPlane();
    await deleteAll(world, { retainVolumes: true });
    const claims = [0, 1, 2].map((ordinal) => `PersistentVolumeClaim etcd-data-c1-etcd-${ordinal}`);
    expect(world.names).toEqual([...claims, 'Secret worker-bootstrap']);
  });

  it('keeps claims that only look like those of etcd', async () => {
    const world = controlPlane();
    const { apiVersion, kind } = PersistentVolumeClaim;
    world.put({ apiVersion, kind, metadata: { name: 'restored-data', labels: selectorLabels('c1', 'etcd') } });
    await deleteAll(world);
    expect(world.names).toContain('PersistentVolumeClaim restored-data');
  });

  it("keeps a user's authority and a Secret that another owner controls", async () => {
    const world = controlPlane();
    const authority = world.get<StoredObject>(Secret, 'c1-ca')!;
    world.put({ ...authority, metadata: { ...authority.metadata, ownerReferences: [] } });
    const proxy = world.get<StoredObject>(Secret, 'c1-proxy')!;
    const other = { apiVersion: 'v1', kind: 'X', name: 'x', uid: 'other', controller: true };
    world.put({ ...proxy, metadata: { ...proxy.metadata, ownerReferences: [other] } });
    await deleteAll(world);
    expect(world.names).toEqual(['Secret c1-ca', 'Secret c1-proxy', 'Secret worker-bootstrap']);
  });

  it('of a second object that claims the same Cluster touches nothing of the first one', async () => {
    const world = controlPlane();
    const before = world.names;
    const outcome = await deleteControlPlane({
      cluster: 'c1',
      ownerUid: 'uid-of-the-second',
      retainVolumes: false,
      finalBackup: () => undefined,
      world,
      remover: world,
    });
    expect(outcome).toMatchObject({ kind: 'done' });
    expect(world.writes).toEqual([]);
    expect(world.names).toEqual(before);
  });

  it('begins only when no workers are left, and asks again', async () => {
    const world = controlPlane();
    world.workersLeft = 2;
    expect(await step(world)).toMatchObject({
      kind: 'wait',
      reason: 'WaitingForWorkersDeletion',
      message: expect.stringContaining('2 Machines or MachinePools of cluster c1') as string,
      afterMs: 5000,
    });
    expect(world.writes).toEqual([]);
  });
});
