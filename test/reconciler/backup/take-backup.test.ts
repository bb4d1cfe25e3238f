import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Backup } from '../../../constructs/api/backup-spec.ts';
import { type BackupCause, changeCause, requestCause } from '../../../reconciler/backup/causes.ts';
import { ClusterBackups } from '../../../reconciler/backup/cluster-backups.ts';
import { backupId, parseBackupId } from '../../../constructs/cluster/backup-names.ts';
import type { Incarnation } from '../../../reconciler/backup/ownership.ts';
import { ObjectStore } from '../../../reconciler/backup/store/object-store.ts';
import { type BackupAttempt, type BackupResult, takeBackup } from '../../../reconciler/backup/take-backup.ts';
import { storeSecret } from '../../support/backup-secrets.ts';
import { LoneMember, snapshot } from '../../support/etcd-member.ts';
import { foundedClusterIds } from '../../../reconciler/etcd/derived-ids.ts';
import { ObjectStoreServer } from '../../support/object-store-server.ts';

const now = Date.parse('2026-11-21T12:00:00Z');
const hour = 3_600_000;
const owner = { namespace: 'team', cluster: 'c1' };
const folder = 'team/c1';
const production: Incarnation = { uid: 'production', createdAt: now - 100 * hour, clusterId: '1267' };
const member = { ordinal: 0, name: 'c1-etcd-0', peerUrl: 'https://c1-etcd-0:2380' };

const [founded = ''] = foundedClusterIds({ namespace: 'team', name: 'c1' });
/** A member of the etcd with this ID. */
const etcdWith = (clusterId: string): Pick<BackupAttempt, 'openEtcd'> => ({
  openEtcd: () => ({ clients: () => new LoneMember(member, clusterId), close: () => {} }),
});

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
      incarnation: production,
      spec: Backup.parse({ schedule: '@daily', secret: { name: 's3' } }),
      schedule: undefined,
      causes,
      lastKnown: undefined,
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
async function taken(hoursAgo: number, takenFor: readonly BackupCause[] = [], clusterId = '1267'): Promise<string> {
  const name = { time: now - hoursAgo * hour, revision: 1 };
  const facts = { clusterId, etcdVersion: '3.6.16', kubernetesVersion: 'v1.36.3' };
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

  it('is taken again for a change of version that was withdrawn and is requested again', async () => {
    const change = changeCause('Kubernetes 1.36 to 1.37');
    const older = await taken(0.5, [change]);
    const lastKnown = parseBackupId(older);
    expect(await attempt([change], { lastKnown })).toMatchObject({ newest: expect.not.stringMatching(older) });
  });

  it('is not taken again for a change of version by the next process, which does not know it yet', async () => {
    const change = changeCause('Kubernetes 1.36 to 1.37');
    const before = parseBackupId(await taken(2));
    const newest = await taken(0.5, [change]);
    expect(await attempt([change], { lastKnown: before })).toMatchObject({ newest, satisfied: [change] });
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

describe('by a clock that was wrong', () => {
  const year = 365 * 24 * hour;
  const schedule = { expression: '0 * * * *', identity: 'team/c1' };
  const spec = Backup.parse({ schedule: '0 * * * *', secret: { name: 's3' }, retention: { maxAge: '5h' } });
  const ids = async () => (await backups.list()).backups.map(backupId);
  const at = (ms: number, fault?: string) => ({ clock: { now: () => now + ms, fault: () => fault }, schedule, spec });

  it('a backup of next year neither stops the next one nor expires the others', async () => {
    for (const hours of [4, 3, 2, 1]) await taken(hours);
    const { newest: ahead } = await attempt([], at(year));
    expect(await ids()).toHaveLength(5);
    const { newest } = await attempt([], at(hour));
    expect(newest).not.toBe(ahead);
    expect(await ids()).toHaveLength(6);
  });

  it('nothing is deleted while the clocks disagree', async () => {
    for (const hours of [8, 7, 6, 5, 4, 3, 2, 1]) await taken(hours);
    await attempt([], at(0, 'the clock is wrong'));
    expect(await ids()).toHaveLength(9);
    await attempt([], at(hour));
    expect(await ids()).toHaveLength(6);
  });
});

describe('control planes with the same name', () => {
  const rehearsal: Incarnation = { uid: 'rehearsal', createdAt: now - 3 * hour, clusterId: 'c3' };
  const schedule = { expression: '0 */2 * * *', identity: 'team/c1' };
  const spec = Backup.parse({ schedule: '@daily', secret: { name: 's3' }, retention: { maxCount: 1 } });
  const by = (incarnation: Incarnation, changes: Partial<BackupAttempt> = {}) =>
    attempt([], { incarnation, schedule, spec, ...etcdWith(incarnation.clusterId ?? ''), ...changes });
  const existing = async () => (await backups.list()).backups.map(backupId);
  const hoursAgo = (hours: number) => ({ clock: { now: () => now - hours * hour } });

  it('neither count nor delete the backups of each other, and are both told', async () => {
    const productions = await by(production, hoursAgo(3));
    expect(productions.foreignWriter).toBeUndefined();
    const rehearsals = await by(rehearsal, hoursAgo(2.5));
    // To a newcomer the other one is a predecessor until that writes again.
    expect(rehearsals.foreignWriter).toBeUndefined();
    const next = await by(production, hoursAgo(1));
    expect(next.foreignWriter).toEqual({ name: rehearsals.newest, owner: 'rehearsal' });
    expect(await existing()).toEqual([next.newest, rehearsals.newest]);
    const last = await by(rehearsal);
    expect(last.foreignWriter).toEqual({ name: next.newest, owner: 'production' });
    expect(await existing()).toEqual([last.newest, next.newest]);
    expect((await by(production)).newest).not.toBe(next.newest);
  });

  it('have a backup for the same request each', async () => {
    const causes = [requestCause('please')];
    const one = await attempt(causes, { incarnation: production, ...hoursAgo(2) });
    const other = await attempt(causes, { incarnation: rehearsal, ...etcdWith('c3'), ...hoursAgo(1) });
    expect(other.newest).not.toBe(one.newest);
    expect(await attempt(causes, { incarnation: production })).toMatchObject({ newest: one.newest });
  });

  it('keep the unfinished uploads of each other', async () => {
    const part = `${folder}/${backupId({ time: now - 50 * hour, revision: 1 })}`;
    server.objects.set(`${part}/snapshot.db`, snapshot);
    server.objects.set(`${part}/owner-rehearsal.json`, Buffer.from('{}'));
    await by(production);
    expect(server.objects.has(`${part}/snapshot.db`)).toBe(true);
    await by(rehearsal);
    expect(server.objects.has(`${part}/snapshot.db`)).toBe(false);
  });

  it.each([
    ['counts and deletes those of the object before for the same etcd', '1267', 1],
    ['keeps those of a predecessor, whose etcd has the same ID because of its name', founded, 2],
  ])('a new object %s', async (_, clusterId, left) => {
    await by({ uid: 'before', createdAt: now - 100 * hour, clusterId }, hoursAgo(5));
    const mine = { uid: 'moved', createdAt: now - hour, clusterId };
    const { foreignWriter } = await by(mine);
    expect(foreignWriter).toBeUndefined();
    expect(await existing()).toHaveLength(left);
  });

  it('with copies of the same volumes keep the backups of each other', async () => {
    const copy = { uid: 'copy', createdAt: now - 4 * hour, clusterId: '1267' };
    const first = await by(production, hoursAgo(3));
    const second = await by(copy, hoursAgo(2));
    const third = await by(production);
    expect(await existing()).toEqual([third.newest, second.newest]);
    expect(first.newest).not.toBe(third.newest);
    expect(third.foreignWriter).toMatchObject({ owner: 'copy' });
    expect((await by(copy)).foreignWriter).toMatchObject({ owner: 'production' });
  });

  it('count, delete and mark their own of the release before, and keep those of others', async () => {
    for (const hours of [90, 80, 70]) await taken(hours);
    await taken(60, [], 'c3');
    await taken(120);
    const { newest, foreignWriter } = await by(production, {
      spec: Backup.parse({ ...spec, retention: { maxCount: 2 } }),
    });
    const id = (hours: number) => backupId({ time: now - hours * hour, revision: 1 });
    expect(await existing()).toEqual([newest, id(70), id(60), id(120)]);
    expect(foreignWriter).toMatchObject({ name: id(60) });
    const owners = (await backups.list()).backups.map(({ owner: uid }) => uid);
    expect(owners).toEqual(['production', 'production', undefined, undefined]);
  });
});
