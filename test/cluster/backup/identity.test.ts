import type { SecretObject } from '../../../imports/kubernetes.ts';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Backup } from '../../../constructs/api/backup-spec.ts';
import { Restore } from '../../../constructs/api/restore-spec.ts';
import { Secret } from '../../../constructs/api/resources.ts';
import { serializeRecoveryBundle, recoveryBundleSecretNames } from '../../../reconciler/backup/recovery-bundle.ts';
import { ClusterBackups } from '../../../reconciler/backup/cluster-backups.ts';
import { readEncryptionKey } from '../../../reconciler/backup/encryption-keys.ts';
import { RecoveryBundleNotFound, readIdentity } from '../../../reconciler/backup/find-recovery-bundle.ts';
import { backupId } from '../../../constructs/cluster/backup-names.ts';
import { ObjectStore } from '../../../reconciler/backup/store/object-store.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { scopeOf } from '../../support/scope.ts';
import { startS3, type S3 } from '../../support/s3.ts';
import { snapshotFacts } from '../../support/snapshot-facts.ts';

const owner = { namespace: 'old', cluster: 'c0' };
const keyBytes = randomBytes(32);
const time = Date.parse('2026-11-21T09:15:31.123Z');

let s3: S3;
let store: ObjectStore;
beforeAll(async () => {
  s3 = await startS3();
  store = new ObjectStore(s3.settings);
  await write(1, [readEncryptionKey('first', keyBytes)]);
  await write(2, []);
});
afterAll(async () => {
  store.close();
  await s3.stop();
});

const name = (number: number) => ({ time: time + number, revision: number });

const secret = (secretName: string, data: Readonly<Record<string, string>>): SecretObject => {
  const { apiVersion, kind } = Secret;
  return { apiVersion, kind, metadata: { namespace: 'old', name: secretName }, type: 'Opaque', data };
};

async function* once(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

function write(number: number, keys: Parameters<typeof backupsOf>[0]) {
  const { hostedControlPlane, clusterObject } = scopeOf(new MemoryObjects());
  // one of them is optional: the encryption keys, if Secrets are stored unencrypted
  const secrets = recoveryBundleSecretNames('c0')
    .slice(0, 4)
    .map((secretName) => secret(secretName, { of: base64(secretName) }));
  return backupsOf(keys).write({
    name: name(number),
    facts: snapshotFacts,
    snapshot: once('a snapshot'),
    bundle: once(serializeRecoveryBundle({ hostedControlPlane, clusterObject, secrets })),
  });
}

const backupsOf = (keys: readonly ReturnType<typeof readEncryptionKey>[]) => new ClusterBackups(store, owner, keys);
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** Reads with the keys that the new cluster's Secret holds. */
function read(restore: object, bytes = keyBytes) {
  const { endpoint = '', region, bucket, credentials } = s3.settings;
  if (credentials.kind !== 'static') throw new Error('the store has no static keys');
  const { accessKeyId: accessKeyID, secretAccessKey } = credentials;
  const values = { host: endpoint, region, bucket, accessKeyID, secretAccessKey };
  const secrets = {
    bucket: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, base64(value)])),
    keys: { first: bytes.toString('base64') },
  };
  const encryption = { secretName: 'keys' };
  const source = {
    restore: Restore.parse(restore),
    owner,
    cluster: 'c1',
    namespace: 'new',
    store: Backup.parse({ schedule: '@daily', secret: { name: 'bucket' }, encryption }),
    storeReader: {
      secret: async ({ name: asked }: { name: string }) =>
        secret(asked, asked === 'keys' ? secrets.keys : secrets.bucket),
      serviceAccountToken: async () => '',
    },
  };
  return readIdentity(source, AbortSignal.timeout(30_000));
}

it('returns the Secrets of another cluster with the names of this one', async () => {
  expect(await read({ backup: backupId(name(1)) })).toEqual({
    backup: backupId(name(1)),
    secrets: ['ca', 'etcd', 'proxy', 'sa'].map((purpose) => ({
      name: `c1-${purpose}`,
      type: 'Opaque',
      data: { of: base64(`c0-${purpose}`) },
    })),
  });
});

it('refuses a backup that was stored unencrypted, with the reason', async () => {
  await expect(read({ latest: true })).rejects.toThrow(
    new RecoveryBundleNotFound(
      `backup ${backupId(name(2))} contains no CAs and keys, because it was stored without encryption: workers of a cluster that is restored from it must join again`,
    ),
  );
});

it('reports that there is no such backup', async () => {
  await expect(read({ before: '2020-01-01T00:00:00Z' })).rejects.toThrow(RecoveryBundleNotFound);
});

it('needs the key that the backup was encrypted with', async () => {
  await expect(read({ backup: backupId(name(1)) }, randomBytes(32))).rejects.toThrow('first');
});
