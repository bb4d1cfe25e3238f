import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Backup } from '../../../constructs/api/backup-spec.ts';
import { Restore } from '../../../constructs/api/restore-spec.ts';
import { chooseOwnFirst } from '../../../reconciler/backup/choose-backup.ts';
import { ClusterBackups } from '../../../reconciler/backup/cluster-backups.ts';
import { backupId, type BackupName, type BackupOwner } from '../../../constructs/cluster/backup-names.ts';
import { openStore } from '../../../reconciler/backup/store/store-access.ts';
import { storeSecret } from '../../support/backup-secrets.ts';
import { ObjectStoreServer } from '../../support/object-store-server.ts';
import { snapshotFacts } from '../../support/snapshot-facts.ts';

const [one, other] = [
  { namespace: 'team-a', cluster: 'prod' },
  { namespace: 'team-b', cluster: 'prod' },
];
const name = (minute: number): BackupName => ({ time: Date.UTC(2026, 10, 21, 9, minute), revision: 4711 + minute });
let server: ObjectStoreServer;
beforeEach(async () => {
  server = await ObjectStoreServer.start();
});
afterEach(() => server.stop());

/** The backups of an owner in the one store of all, as a namespace opens it. */
async function opened(namespace: string, owner: BackupOwner): Promise<ClusterBackups> {
  const place = { namespace: 'platform', name: 'etcd-backup' };
  const secret = storeSecret(place, server.settings, { bucket: 'backups/eu' });
  const annotations = { 'controlplane.cluster.x-k8s.io/backup-access': 'team-a,team-b' };
  const { store } = await openStore(
    { namespace, owner },
    Backup.parse({ schedule: '@daily', secret: { name: place.name, namespace: place.namespace } }),
    {
      secret: async () => ({ ...secret, metadata: { ...secret.metadata, annotations } }),
      serviceAccountToken: async () => 'none',
    },
  );
  return new ClusterBackups(store, owner);
}

async function write(owner: BackupOwner, minute: number): Promise<void> {
  const backups = await opened(owner.namespace, owner);
  await backups.write({ name: name(minute), facts: snapshotFacts, snapshot: Readable.from([Buffer.from('x')]) });
}

describe('a Secret of many namespaces', () => {
  beforeEach(async () => {
    await write(one, 1);
    await write(other, 2);
  });

  it('gives each of them a folder of its own', async () => {
    const folders = new Set([...server.objects.keys()].map((key) => key.split('/').slice(0, -2).join('/')));
    expect([...folders]).toEqual(['eu/team-a/prod', 'eu/team-b/prod']);
    for (const owner of [one, other]) {
      const { backups } = await (await opened(owner.namespace, owner)).list();
      expect(backups).toHaveLength(1);
    }
  });

  it('gives none of them the backup of another one by its name', async () => {
    const { backups } = await (await opened(one.namespace, one)).list();
    const choice = { kind: 'backup', id: backupId(name(2)) } as const;
    expect(chooseOwnFirst(choice, { own: backups, foreign: [] }, true)).toEqual({ kind: 'none' });
  });

  it('gives none of them the folder of another one', async () => {
    await expect(opened(one.namespace, other)).rejects.toMatchObject({
      reason: 'BackupSecretInvalid',
      message: expect.stringContaining('and not the backups of namespace team-b') as unknown,
    });
    await expect(opened('team-c', one)).rejects.toMatchObject({
      message: expect.stringContaining('or to add team-c to that list') as unknown,
    });
  });

  it.each([
    { namespace: 'team-a', cluster: '../team-b/prod' },
    { namespace: 'team-a', cluster: 'prod/../../team-b/prod' },
    { namespace: 'team-a', cluster: '..' },
    { namespace: 'team-a/../team-b', cluster: 'prod' },
    { namespace: '..', cluster: 'prod' },
    { namespace: 'team-a', cluster: '' },
    { namespace: 'team-a', cluster: 'prod%2F..' },
  ])('is not left by a path in the place of a name: $namespace/$cluster', (from) => {
    expect(Restore.safeParse({ latest: true, from }).success).toBe(false);
    expect(Restore.safeParse({ latest: true, from: one }).success).toBe(true);
  });
});
