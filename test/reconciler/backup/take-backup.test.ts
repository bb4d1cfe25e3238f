import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Backup } from '../../../constructs/api/backup-spec.ts';
import { type BackupCause, requestCause } from '../../../reconciler/backup/causes.ts';
import { ClusterBackups } from '../../../reconciler/backup/cluster-backups.ts';
import { backupId } from '../../../reconciler/backup/names.ts';
import { ObjectStore } from '../../../reconciler/backup/object-store.ts';
import { type BackupAttempt, type BackupResult, takeBackup } from '../../../reconciler/backup/take-backup.ts';
import { storeSecret } from '../../support/backup-secrets.ts';
import { LoneMember, snapshot } from '../../support/etcd-member.ts';
import { ObjectStoreServer } from '../../support/object-store-server.ts';

const now = Date.parse('2026-11-21T12:00:00Z');
const hour = 3_600_000;
const owner = { namespace: 'team', cluster: 'c1' };
const folder = 'team/c1';
const member = { ordinal: 0, name: 'c1-etcd-0', peerUrl: 'https://c1-etcd-0:2380' };

let server: ObjectStoreServer;
let store: ObjectStore;
let backups: ClusterBackups;
beforeAll(async () => {
  server = await ObjectStoreServer.start();
  store = new ObjectStore(server.settings);
  backups = new ClusterBackups(store, owner);
});
beforeEach(() => {
  server.objects.clear();
  server.uploads.clear();
});
afterAll(() => {
  store.close();
  server.stop();
});

function attempt(causes: readonly BackupCause[], changes: Partial<BackupAttempt> = {}): Promise<BackupResult> {
  return takeBackup(
    {
      owner,
      spec: Backup.parse({ schedule: '@daily', secret: { name: 's3' } }),
      schedule: undefined,
      causes,
      kubernetesVersion: 'v1.36.3',
      members: [member],
      openEtcd: () => ({ clients: () => new LoneMember(member), close: () => {} }),
      storeReader: {
        secret: async () => storeSecret({ namespace: 'team', name: 's3' }, server.settings),
        serviceAccountToken: async () => 'none',
      },
      bundle: async () => undefined,
      clock: { now: () => now },
      ...changes,
    },
    { signal: new AbortController().signal, report: () => {} },
  );
}

/** A backup that was taken this many hours ago. */
async function taken(hoursAgo: number, takenFor: readonly BackupCause[] = []): Promise<string> {
  const name = { time: now - hoursAgo * hour, revision: 1 };
  const facts = { clusterId: '1267', etcdVersion: '3.6.16', kubernetesVersion: 'v1.36.3' };
  const keys = { total: 0, byResource: {} };
  await backups.write({ name, facts: { ...facts, keys, takenFor: [...takenFor] }, snapshot: bytes() });
  return backupId(name);
}

async function* bytes(): AsyncGenerator<Uint8Array> {
  yield snapshot;
}

describe('a backup', () => {
  it('is not taken twice for one request, even if later ones were taken for other causes', async () => {
    const request = requestCause('before the big change');
    for (let hours = 20; hours > 1; hours--) await taken(hours, hours === 20 ? [request] : []);
    const newest = await taken(1);
    expect(await attempt([request])).toMatchObject({ newest, satisfied: [request] });
    expect((await backups.list()).backups).toHaveLength(20);
  });

  it('is taken for a request that no other backup was taken for', async () => {
    const older = await taken(1, [requestCause('another one')]);
    const { newest } = await attempt([requestCause('this one')]);
    expect(newest).not.toBe(older);
    expect((await backups.list()).backups).toHaveLength(2);
  });

  it('keeps the uploads of other processes, and deletes those that are older than a day', async () => {
    const part = (hoursAgo: number) =>
      `${folder}/${backupId({ time: now - hoursAgo * hour, revision: 1 })}/snapshot.db`;
    for (const hoursAgo of [0.5, 6, 23, 25, 100]) {
      server.objects.set(part(hoursAgo), snapshot);
      server.uploads.set(part(hoursAgo), new Date(now - hoursAgo * hour));
    }
    expect(await attempt([])).toMatchObject({ retentionFault: undefined });
    const recent = [part(0.5), part(6), part(23)];
    expect((await backups.list()).unfinished.map((name) => `${folder}/${backupId(name)}/snapshot.db`)).toEqual(recent);
    expect([...server.uploads.keys()]).toEqual(recent);
  });
});
