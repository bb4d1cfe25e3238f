import { afterEach, beforeEach, expect, it } from 'vitest';
import { Backup } from '../../../../constructs/api/backup-spec.ts';
import { Restore } from '../../../../constructs/api/restore-spec.ts';
import { choiceOf } from '../../../../reconciler/backup/choose-backup.ts';
import { findRecoveryBundle } from '../../../../reconciler/backup/find-recovery-bundle.ts';
import { systemClock } from '../../../../reconciler/kube/clock.ts';
import { prepareBackup } from '../../../../reconciler/backup/restore/prepare.ts';
import { withBackups } from '../../../../reconciler/backup/with-backups.ts';
import type { RestoreSource } from '../../../../reconciler/backup/restore/prepared-backup.ts';
import { storeSecret } from '../../../support/backup-secrets.ts';
import { snapshotOf } from '../../../support/etcd-database.ts';
import { ObjectStoreServer } from '../../../support/object-store-server.ts';

const name = '2026-08-21T20:15:00+02:00.etcd';
const snapshot = snapshotOf({ revisions: [2, 4711], etcdVersion: '3.6.0' });
const context = { signal: new AbortController().signal, report: () => {} };
let server: ObjectStoreServer;
beforeEach(async () => {
  server = await ObjectStoreServer.start();
  server.objects.set(`team/c1/${name}`, snapshot);
  server.objects.set(`other/c1/${name}`, snapshot);
});
afterEach(() => server.stop());

function sourceOf(restore: object, changes: Partial<RestoreSource> = {}): RestoreSource {
  const { from, ...choice } = Restore.parse(restore);
  return {
    owner: from ?? { namespace: 'team', cluster: 'c1' },
    isOwn: from === undefined,
    incarnation: { uid: 'uid', createdAt: 0, clusterId: undefined },
    isNamed: from !== undefined,
    choice: choiceOf(choice),
    isContended: false,
    namespace: 'team',
    store: Backup.parse({ schedule: '@daily', secret: { name: 's3' } }),
    storeReader: {
      secret: async () => storeSecret({ namespace: 'team', name: 's3' }, server.settings),
      serviceAccountToken: async () => 'none',
    },
    reachableMembers: {
      known: [],
      openEtcd: () => {
        throw new Error('no member is asked');
      },
      kubernetesVersion: 'v1.36.3',
    },
    etcdVersion: '3.6.16-0',
    kubernetesVersion: 'v1.36.3',
    clock: systemClock,
    ...changes,
  };
}

const prepared = (source: RestoreSource, isChecked = false) => prepareBackup(source, { isChecked }, context);

it.each([false, true])(
  'a snapshot of another provider is restored by its name, again in a new process: %s',
  async (isChecked) => {
    const source = sourceOf({ backup: name });
    const found = await prepared(source, isChecked);
    expect(found).toMatchObject({
      backup: name,
      snapshot: { revision: 4711, sizeBytes: snapshot.length },
      encryptionKeys: [],
    });
    const sent: Uint8Array[] = [];
    await withBackups(source, async (backups) => {
      for await (const chunk of found.read(backups, context.signal)) sent.push(chunk);
    });
    expect(Buffer.concat(sent)).toEqual(snapshot);
  },
);

it('the bytes of a snapshot count, so that its check keeps its turn while others wait', async () => {
  let bytes = 0;
  const counted = { ...context, moved: (moved: number) => (bytes += moved) };
  await prepareBackup(sourceOf({ backup: name }), { isChecked: false }, counted);
  expect(bytes).toBe(snapshot.length);
});

it('a snapshot in the folder of another Cluster is found there', async () => {
  const from = { namespace: 'other', cluster: 'c1' };
  server.objects.delete(`team/c1/${name}`);
  expect(await prepared(sourceOf({ backup: name, from }))).toMatchObject({ backup: name });
  await expect(prepared(sourceOf({ backup: name }))).rejects.toMatchObject({
    name: 'BackupNotFound',
    message: `the bucket contains no snapshot ${name} of team/c1: check its name, etcd.restore.from, and the bucket in the Secret`,
  });
});

it('a snapshot of a newer etcd is refused before it is read', async () => {
  server.objects.set(`team/c1/${name}`, snapshotOf({ revisions: [2], etcdVersion: '3.7.0' }));
  await expect(prepared(sourceOf({ backup: name }))).rejects.toThrow(
    `snapshot ${name} was taken from etcd 3.7.0, but etcd 3.6.16-0 cannot read data of a newer minor version: set etcd.version to 3.7.0 or newer`,
  );
  expect(await prepared(sourceOf({ backup: name }, { etcdVersion: '3.7.1-0' }))).toMatchObject({ backup: name });
});

it.each([{ latest: true }, { before: '2030-01-01T00:00:00Z' }, { backup: '2026-11-21T02-30-00.000Z-4711' }])(
  'a snapshot without a manifest is never selected unnamed, but its name is told: %o',
  async (restore) => {
    await expect(prepared(sourceOf(restore))).rejects.toThrow(
      `it contains snapshots without a manifest (1): set etcd.restore.backup to the name of one, such as ${name}, to restore it`,
    );
  },
);

it('a snapshot without a manifest has no CAs and keys to adopt', async () => {
  const { owner, namespace, store, storeReader } = sourceOf({ backup: name });
  const choice = { kind: 'bareSnapshot', name } as const;
  await expect(findRecoveryBundle({ owner, choice, namespace, store, storeReader })).rejects.toMatchObject({
    name: 'BundleNotFound',
    message: expect.stringContaining('contains no CAs and keys') as unknown,
  });
});

it.each(['../c2/x.etcd', 'x/y.etcd', '.etcd', '..etcd', 'x.etcd ', 'x.db', `${'x'.repeat(60)}.etcd`])(
  'a file that is no snapshot of the folder cannot be named: "%s"',
  (backup) => {
    expect(Restore.safeParse({ backup }).success).toBe(false);
  },
);
