import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkBareSnapshot } from '../../../reconciler/backup/bare-snapshot.ts';
import { changeCause, deletionCause, requestCause } from '../../../reconciler/backup/causes.ts';
import { backupId } from '../../../constructs/cluster/backup-names.ts';
import type { BackupAttempt } from '../../../reconciler/backup/take-backup.ts';
import { snapshotSource } from '../../../reconciler/etcd/access.ts';
import { until } from '../../support/until.ts';
import type { EtcdProcesses } from '../etcd/etcd-processes.ts';
import { BackedUpEtcd, hour } from './backed-up-etcd.ts';

let backedUp: BackedUpEtcd;
let etcd: EtcdProcesses;
beforeAll(async () => {
  // An election during a backup aborts it, and this test does not retry.
  backedUp = await BackedUpEtcd.start(['--heartbeat-interval=500', '--election-timeout=10000']);
  ({ etcd } = backedUp);
  const keys = etcd.keys();
  for (let number = 0; number < 50; number += 1) await keys.put(`/registry/secrets/team/${number}`).value('x');
  keys.close();
  // A backup contains what its member has received: every member must have all 50 writes after revision 1.
  await until('every member to have all keys', async () => {
    const revisions = (await etcd.observe()).members.map(({ status }) => status?.revision ?? 0);
    return revisions.every((revision) => revision >= 51 && revision === Math.max(...revisions));
  });
});
afterAll(() => backedUp?.stop());

const attempt = (cluster: string, changes?: Partial<BackupAttempt>, hoursAhead?: number) =>
  backedUp.attempt(cluster, changes, hoursAhead);
const backupsOf = (cluster: string) => backedUp.backupsOf(cluster);

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
    expect(backedUp.progress.join('\n')).toMatch(/listing the existing backups\n\d+ of about \d+ MiB uploaded, \d+ s/);
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
    await backedUp.store.put(`team/bare/${name}`, client.snapshot(new AbortController().signal));
    await attempt('bare');
    const { backups, bareSnapshots } = await backupsOf('bare').list();
    expect({ backups: backups.length, bareSnapshots }).toEqual({ backups: 1, bareSnapshots: [name] });
    const checked = await checkBareSnapshot(name, await backupsOf('bare').bareSnapshot(name));
    expect(checked).toMatchObject({ revision: status.revision, etcdVersion: status.version.replace(/\d+$/, '0') });
    const { s3 } = backedUp;
    const file = join(s3.directory, s3.settings.bucket, 'team/bare', name);
    await writeFile(file, (await readFile(file)).fill(7, 20_000, 20_001));
    await expect(checkBareSnapshot(name, await backupsOf('bare').bareSnapshot(name))).rejects.toThrow('is damaged');
  });
});
