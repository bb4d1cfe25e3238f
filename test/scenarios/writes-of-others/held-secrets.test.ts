import type { SecretObject } from '../../../imports/kubernetes.ts';
import { isDeepStrictEqual } from 'node:util';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { keyFinalizer } from '../../../constructs/api/group.ts';
import {
  Event,
  HostedControlPlane,
  Namespace,
  PersistentVolumeClaim,
  Secret,
} from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { keptSecrets } from '../../../reconciler/certificates/kept-secrets.ts';
import { type MemoryCluster, ourName } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster, everyCrash, expectSameAfter, settleBy, smallestSpec } from '../../support/loop/scenario.ts';
import { clusterName, namespace } from '../../support/scope.ts';

const admin = { fieldManager: 'admin' };

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeCluster(smallestSpec);
});

let cluster: MemoryCluster;
beforeEach(() => {
  cluster = complete.copy();
});

type Stored = SecretObject & { readonly spec?: never };

function keysIn({ objects }: MemoryCluster): readonly SecretObject[] {
  return keptSecrets(clusterName).flatMap((name) => objects.get<Stored>(Secret, name) ?? []);
}

const dataIn = (managed: MemoryCluster) => keysIn(managed).map(({ metadata, data }) => [metadata.name, data]);
const secretsIn = ({ objects }: MemoryCluster) =>
  objects
    .list(Secret, {})
    .map(({ metadata }) => metadata.name)
    .toSorted((one, other) => one.localeCompare(other));

/** As `kubectl delete secret`, of those that cannot be made again. */
async function deleteKeys(managed: MemoryCluster): Promise<void> {
  for (const { metadata } of keysIn(managed)) await managed.user.delete(Secret, metadata);
}

async function rounds(managed: MemoryCluster, count = 8): Promise<void> {
  const operator = await OperatorProcess.start(managed);
  await operator.rounds(count);
  await operator.stop();
}

/** Deletes the HostedControlPlane as a person does who takes its finalizers away. */
async function removeByForce({ user }: MemoryCluster): Promise<void> {
  await user.delete(HostedControlPlane, ourName);
  await user.mergePatch(HostedControlPlane, ourName, { metadata: { finalizers: null } }, admin);
}

describe('keys that a user deletes', () => {
  it('have the same content afterwards, belong to the control plane, and an event says so', async () => {
    const before = dataIn(cluster);
    await deleteKeys(cluster);
    await settleBy(cluster);
    expect(before).toHaveLength(5);
    expect(dataIn(cluster)).toEqual(before);
    expect(secretsIn(cluster)).toEqual(secretsIn(complete));
    const { uid } = cluster.hostedControlPlane.metadata;
    for (const { metadata } of keysIn(cluster)) {
      expect(metadata).toMatchObject({ ownerReferences: [{ uid }], finalizers: [keyFinalizer] });
      expect(metadata.deletionTimestamp).toBeUndefined();
    }
    const notes = cluster.objects.list<KubeObject & { spec?: never; reason?: string; note?: string }>(Event, {});
    expect(notes.filter(({ reason }) => reason === 'SecretDeleted').map(({ note }) => note)).toContainEqual(
      expect.stringContaining('Secret c1-encryption was deleted'),
    );
  });

  it('have it wherever the operator crashes meanwhile', { timeout: 120_000 }, async () => {
    await deleteKeys(cluster);
    const crashes = await everyCrash(cluster);
    expect(crashes.length).toBeGreaterThan(20);
    const lost: string[] = [];
    for (const { moment, cluster: left } of crashes) {
      const all = new Map(left.objects.list<Stored>(Secret, {}).map(({ metadata, data }) => [metadata.name, data]));
      for (const { metadata, data } of keysIn(complete)) {
        const found = [all.get(metadata.name), all.get(`${metadata.name}-copy`)];
        if (!found.some((one) => isDeepStrictEqual(one, data))) lost.push(`${metadata.name} ${moment}`);
      }
    }
    expect(lost).toEqual([]);
    await expectSameAfter(crashes, cluster);
  });

  it('are lost only when they are the own ones of a user', async () => {
    const name = { namespace, name: 'c1-ca' };
    await cluster.user.mergePatch(Secret, name, { metadata: { ownerReferences: null, finalizers: null } }, admin);
    await rounds(cluster, 2);
    expect(cluster.objects.get(Secret, 'c1-ca')?.metadata.finalizers ?? []).toEqual([]);
    await cluster.user.delete(Secret, name);
    await rounds(cluster, 2);
    expect(secretsIn(cluster)).not.toContain('c1-ca');
    expect(secretsIn(cluster)).not.toContain('c1-ca-copy');
  });
});

it('keys of a control plane of an earlier release are held from the first reconcile on', async () => {
  for (const { metadata } of keysIn(cluster))
    await cluster.user.mergePatch(Secret, { ...metadata }, { metadata: { finalizers: null } }, admin);
  await settleBy(cluster);
  expect(keysIn(cluster).map(({ metadata }) => metadata.finalizers)).toEqual(
    Array.from({ length: 5 }, () => [keyFinalizer]),
  );
});

describe('in a namespace that is deleted', () => {
  it.each([
    ['deletes its volumes', {}],
    ['retains its volumes', { etcd: { replicas: 1, volumeRetention: 'Retain' } }],
  ])('nothing of a control plane that %s holds it, also if the operator starts late', async (_, spec) => {
    await cluster.change(spec);
    await settleBy(cluster);
    await cluster.user.delete(Namespace, { name: namespace });
    cluster.settle();
    expect(keysIn(cluster)).toHaveLength(5);
    await rounds(cluster);
    expect(secretsIn(cluster)).toEqual([]);
    expect(cluster.objects.get(HostedControlPlane, ourName.name)).toBeUndefined();
  });

  it('nothing of one whose object was removed by force holds it', async () => {
    await removeByForce(cluster);
    await cluster.user.delete(Namespace, { name: namespace });
    cluster.settle();
    expect(keysIn(cluster)).toHaveLength(5);
    await rounds(cluster, 2);
    expect(secretsIn(cluster)).toEqual([]);
  });
});

describe('keys of a control plane whose object was removed by force', () => {
  it('stay with its volumes, without owner, also when a user deletes them', async () => {
    const before = dataIn(cluster);
    await removeByForce(cluster);
    cluster.settle();
    await rounds(cluster, 2);
    cluster.settle();
    expect(dataIn(cluster)).toEqual(before);
    expect(keysIn(cluster).flatMap(({ metadata }) => metadata.ownerReferences ?? [])).toEqual([]);
    expect(cluster.objects.list(PersistentVolumeClaim, {})).toHaveLength(1);
    for (const { metadata } of keysIn(cluster)) await cluster.user.delete(Secret, metadata);
    cluster.settle();
    await rounds(cluster, 2);
    expect(dataIn(cluster)).toEqual(before);
  });

  it('go when nothing is left that needs them', async () => {
    await removeByForce(cluster);
    cluster.settle();
    for (const { metadata } of cluster.objects.list(PersistentVolumeClaim, {}))
      await cluster.user.delete(PersistentVolumeClaim, metadata);
    cluster.settle();
    await rounds(cluster, 2);
    expect(keysIn(cluster)).toEqual([]);
  });
});
