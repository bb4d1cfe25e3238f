import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Backup } from '../../../constructs/api/backup-spec.ts';
import { checkBareSnapshot } from '../../../reconciler/backup/bare-snapshot.ts';
import { changeCause, deletionCause, requestCause } from '../../../reconciler/backup/causes.ts';
import { ClusterBackups } from '../../../reconciler/backup/cluster-backups.ts';
import { backupId } from '../../../reconciler/backup/names.ts';
import { ObjectStore } from '../../../reconciler/backup/object-store.ts';
import { type BackupAttempt, type BackupResult, takeBackup } from '../../../reconciler/backup/take-backup.ts';
import { leaderOf } from '../../../reconciler/etcd/members.ts';
import { snapshotSource } from '../../../reconciler/etcd/snapshot-source.ts';
import { storeSecret } from '../../support/backup-secrets.ts';
import { startS3, type S3 } from '../../support/s3.ts';
import { until } from '../../support/until.ts';
import { EtcdProcesses } from '../etcd/etcd-processes.ts';
import { settle } from '../etcd/settle.ts';

let etcd: EtcdProcesses;
let s3: S3;
let store: ObjectStore;
beforeAll(async () => {
  // An election during a backup aborts it, and this test does not retry.
  const calm = ['--heartbeat-interval=500', '--election-timeout=10000'];
  [etcd, s3] = await Promise.all([EtcdProcesses.start(3, 3, calm), startS3()]);
  store = new ObjectStore(s3.settings);
  await settle(etcd, 3);
  const keys = etcd.keys();
  for (let number = 0; number < 50; number += 1) await keys.put(`/registry/secrets/team/${number}`).value('x');
  keys.close();
  // A backup contains what its member has received: every member must have all 50 writes after revision 1.
  await until('every member to have all keys', async () => {
    const revisions = (await etcd.observe()).members.map(({ status }) => status?.revision ?? 0);
    return revisions.every((revision) => revision >= 51 && revision === Math.max(...revisions));
  });
});
afterAll(async () => {
  store.close();
  await Promise.all([etcd.stop(), s3.stop()]);
});

const hour = 3_600_000;
/** Every day, but not within hours of the test run. */
const daily = `0 ${(new Date().getUTCHours() + 12) % 24} * * *`;
const place = { namespace: 'team', name: 's3' };
const progress: string[] = [];
const context = { signal: new AbortController().signal, report: (text: string) => progress.push(text) };
const backupsOf = (cluster: string) => new ClusterBackups(store, { namespace: 'team', cluster });

/** An attempt whose clock is this many hours ahead. */
async function attempt(cluster: string, changes: Partial<BackupAttempt> = {}, hoursAhead = 0): Promise<BackupResult> {
  const { members } = await etcd.observe();
  return takeBackup(
    {
      owner: { namespace: 'team', cluster },
      incarnation: { uid: 'production', createdAt: 0, clusterId: 'of no etcd' },
      spec: Backup.parse({ schedule: daily, secret: { name: 's3' }, retention: { maxCount: 2 } }),
      schedule: { expression: daily, identity: 'team/c1' },
      causes: [],
      lastKnown: undefined,
      kubernetesVersion: 'v1.36.3',
      members,
      openEtcd: () => ({ clients: etcd.clients, close: () => {} }),
      storeReader: {
        secret: async () => storeSecret(place, s3.settings),
        serviceAccountToken: async () => 'none',
      },
      bundle: async () => 'never requested without a key',
      clock: { now: () => Date.now() + hoursAhead * hour },
      ...changes,
    },
    context,
  );
}

describe('a backup', () => {
  it('is taken from a follower, with its content', async () => {
    const { newest, sizeBytes } = await attempt('content');
    const [listed] = (await backupsOf('content').list()).backups;
    if (!listed) throw new Error('it is not listed');
    expect(backupId(listed)).toBe(newest);
    const manifest = await backupsOf('content').manifest(listed);
    expect(manifest.sizeBytes).toBe(sizeBytes);
    expect(manifest.keys).toEqual({ total: 50, byResource: { '/registry/secrets': 50 } });
    const { status } = await snapshotSource((await etcd.observe()).members, etcd.clients);
    expect(status.leaderId).not.toBe(status.memberId);
    expect(progress.join('\n')).toMatch(/listing the existing backups\n\d+ of about \d+ MiB uploaded, \d+ s/);
  });

  it('is not taken if the store has one that the status does not contain', async () => {
    const first = await attempt('remembered');
    expect(await attempt('remembered')).toEqual({ ...first, satisfied: [] });
    expect((await backupsOf('remembered').list()).backups).toHaveLength(1);
  });

  it('is taken when it is due, although the store has an older one', async () => {
    const first = await attempt('scheduled');
    expect((await attempt('scheduled', {}, 25)).newest).not.toBe(first.newest);
  });

  it.each([requestCause('before the big change'), deletionCause('uid'), changeCause('etcd 3.5 to 3.6')])(
    'is taken once for %s, even if processes are killed before they report it',
    async (cause) => {
      const cluster = `for-${cause.split(':')[0]}`;
      await attempt(cluster);
      const taken = await attempt(cluster, { causes: [cause] });
      expect(taken.satisfied).toEqual([cause]);
      const repeated = await attempt(cluster, { causes: [cause], schedule: undefined });
      expect(repeated).toEqual(taken);
      expect((await backupsOf(cluster).list()).backups).toHaveLength(2);
    },
  );

  it('that is too old does not count for a change of version', async () => {
    const causes = [changeCause('Kubernetes 1.35 to 1.36')];
    const first = await attempt('changed', { causes });
    expect((await attempt('changed', { causes }, 2)).newest).not.toBe(first.newest);
  });

  it('deletes older ones according to the retention', async () => {
    for (const hours of [0, 25, 50, 75]) await attempt('retained', {}, hours);
    const { backups } = await backupsOf('retained').list();
    expect(backups.map(({ time }) => Math.round((time - Date.now()) / hour))).toEqual([75, 50]);
  });

  it('that another provider has stored as etcd sends it shows its revision and its version', async () => {
    const name = '2026-08-21T20:15:00+02:00.etcd';
    const { client, status } = await snapshotSource((await etcd.observe()).members, etcd.clients);
    await store.put(`team/bare/${name}`, client.snapshot(context.signal));
    await attempt('bare');
    const { backups, bareSnapshots } = await backupsOf('bare').list();
    expect({ backups: backups.length, bareSnapshots }).toEqual({ backups: 1, bareSnapshots: [name] });
    const checked = await checkBareSnapshot(name, await backupsOf('bare').bareSnapshot(name));
    expect(checked).toMatchObject({ revision: status.revision, etcdVersion: status.version.replace(/\d+$/, '0') });
    const file = join(s3.directory, s3.settings.bucket, 'team/bare', name);
    await writeFile(file, (await readFile(file)).fill(7, 20_000, 20_001));
    await expect(checkBareSnapshot(name, await backupsOf('bare').bareSnapshot(name))).rejects.toThrow('is damaged');
  });

  it('is not taken from an etcd without a leader, and the error names the member that does not answer', async () => {
    await Promise.all([etcd.kill('etcd-0'), etcd.kill('etcd-1')]);
    await until('the loss of the leader', async () => leaderOf(await etcd.observe()) === undefined, 60_000);
    await expect(attempt('leaderless')).rejects.toThrow(/no etcd member can provide a snapshot: .*etcd-0/);
    expect((await backupsOf('leaderless').list()).backups).toEqual([]);
  });
});
