import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cluster, HostedControlPlane, PersistentVolumeClaim, Secret } from '../../../constructs/api/resources.ts';
import { keptSecrets } from '../../../reconciler/pki/kept-secrets.ts';
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

/** How many backups there are after a deletion that is to take one. */
async function lastBackups(remove: Deletion): Promise<number> {
  bucket.objects.clear();
  const site = await BackedUpCluster.start(bucket, 'a1', 0);
  await site.operator.stop();
  await site.cluster.change({ etcd: { backup: { beforeDeletion: true } } });
  await deleted(site.cluster, remove);
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

  it.fails('D2: leaves the keys with the volumes that are retained', async () => {
    expect(await lostKeys(remove)).toEqual([]);
  });

  it.fails('D3: takes the last backup before anything that it needs is deleted', async () => {
    expect(await lastBackups(remove)).toBe(1);
  });
});
