import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  Cluster,
  Event,
  HostedControlPlane,
  Namespace,
  PersistentVolumeClaim,
  Secret,
  StatefulSet,
} from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { keptSecrets } from '../../../reconciler/certificates/kept-secrets.ts';
import { BackedUpCluster } from '../../support/loop/backed-up-cluster.ts';
import { Life } from '../../support/loop/life.ts';
import { type MemoryCluster, ourName } from '../../support/loop/memory-cluster.ts';
import { completeCluster } from '../../support/loop/scenario.ts';
import { ObjectStoreServer } from '../../support/object-store-server.ts';
import { clusterName, namespace } from '../../support/scope.ts';
import { operate } from './operate.ts';

let bucket: ObjectStoreServer;
beforeAll(async () => {
  bucket = await ObjectStoreServer.start();
});
afterAll(() => bucket.stop());

const isGone = ({ objects }: MemoryCluster) => objects.get(HostedControlPlane, ourName.name) === undefined;

const cluster = { namespace, name: clusterName };
const inForeground = { propagationPolicy: 'Foreground' } as const;

type Deletion = (management: MemoryCluster) => Promise<void>;

const inBackground: Deletion = ({ user }) => user.delete(HostedControlPlane, ourName);

/** As Argo CD deletes by default, and `kubectl delete --cascade=foreground`. */
const deletions: [what: string, remove: Deletion][] = [
  ['HostedControlPlane', ({ user }) => user.delete(HostedControlPlane, ourName, inForeground)],
  ['Cluster', ({ user }) => user.delete(Cluster, cluster, inForeground)],
];

/** Deletes the control plane, and lets the garbage collector be faster than the operator. */
async function deleted(management: MemoryCluster, remove: Deletion): Promise<void> {
  await remove(management);
  management.settle();
  const errors = await operate(management, () => isGone(management), { life: new Life() });
  expect(errors).toEqual([]);
}

/** The keys that are gone after a deletion that retains the volumes. */
async function lostKeys(remove: Deletion): Promise<string[]> {
  const management = await completeCluster({ etcd: { replicas: 3, volumeRetention: 'Retain' } });
  const keys = keptSecrets(clusterName).filter((name) => management.objects.get(Secret, name) !== undefined);
  await deleted(management, remove);
  if (management.objects.list(PersistentVolumeClaim, {}).length !== 3) throw new Error('volumes are gone, too');
  return keys.filter((name) => management.objects.get(Secret, name) === undefined);
}

/** A control plane that is backed up before its deletion. @param isSeen whether the operator has seen that the spec asks for it */
async function withFinalBackup({ isSeen = true } = {}): Promise<MemoryCluster> {
  const site = await BackedUpCluster.start(bucket, 'a1', 0);
  if (isSeen) await site.cluster.change({ etcd: { backup: { beforeDeletion: true } } });
  await site.operator.untilSettled();
  await site.operator.stop();
  if (!isSeen) await site.cluster.change({ etcd: { backup: { beforeDeletion: true } } });
  return site.cluster;
}

/** How many backups there are after a deletion that is to take one. */
async function lastBackups(remove: Deletion): Promise<number> {
  bucket.objects.clear();
  const management = await withFinalBackup();
  await deleted(management, remove);
  return [...bucket.objects.keys()].filter((key) => key.endsWith('/manifest.json')).length;
}

describe('a deletion in the background', () => {
  it('leaves the keys with the volumes that are retained', async () => {
    expect(await lostKeys(inBackground)).toEqual([]);
  });

  it('takes the last backup', async () => {
    expect(await lastBackups(inBackground)).toBe(1);
  });
});

describe.each(deletions)('a deletion of the %s in the foreground', (_, remove) => {
  it('leaves neither pods nor volumes nor Secrets', async () => {
    const management = await completeCluster();
    await deleted(management, remove);
    const kinds = management.objects.objects.map(({ kind }) => kind).filter((kind) => kind !== 'Event');
    expect(kinds.filter((kind) => kind !== Cluster.kind)).toEqual([]);
  });

  it('leaves the keys with the volumes that are retained', async () => {
    expect(await lostKeys(remove)).toEqual([]);
  });

  it('takes the last backup before anything that it needs is deleted', async () => {
    expect(await lastBackups(remove)).toBe(1);
  });
});

const deleting = ({ conditions }: MemoryCluster) => conditions.find(({ type }) => type === 'Deleting');

describe('a final backup that cannot be taken any more', () => {
  it('holds the deletion, which keeps the volumes, until a person gives it up', async () => {
    bucket.objects.clear();
    const management = await withFinalBackup({ isSeen: false });
    await management.user.delete(HostedControlPlane, ourName, inForeground);
    management.settle();
    expect(management.objects.get(StatefulSet, 'c1-etcd')).toBeUndefined();
    await operate(management, () => deleting(management)?.reason === 'FinalBackupImpossible', { life: new Life() });
    expect(management.objects.list(PersistentVolumeClaim, {})).toHaveLength(1);
    expect(deleting(management)?.message).toContain('set etcd.volumeRetention: Retain');
    await management.change({ etcd: { volumeRetention: 'Retain', backup: { beforeDeletion: false } } });
    await operate(management, () => isGone(management), { life: new Life() });
    expect(management.objects.list(PersistentVolumeClaim, {})).toHaveLength(1);
    expect(management.objects.get(Secret, 'c1-encryption')).toBeDefined();
  });

  it('is told by an event when its namespace was deleted, which nothing holds', async () => {
    bucket.objects.clear();
    const management = await withFinalBackup();
    await management.user.create(
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } },
      { fieldManager: 'x' },
    );
    await management.user.delete(Namespace, { name: namespace });
    management.settle();
    await operate(management, () => isGone(management), { life: new Life() });
    const { items } = await management.user.list<KubeObject & { reason?: string }>(Event, { namespace: 'default' });
    expect(items.map(({ reason }) => reason)).toContain('FinalBackupImpossible');
    expect(management.objects.list(Secret, {}).map(({ metadata }) => metadata.name)).toEqual([]);
  });
});
