import type { SecretObject } from '../../../../imports/kubernetes.ts';
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Backup } from '../../../../constructs/api/backup-spec.ts';
import { Secret } from '../../../../constructs/api/resources.ts';
import type { BackupOwner } from '../../../../constructs/cluster/backup-names.ts';
import { openStore } from '../../../../reconciler/backup/store/store-access.ts';
import { messageOf } from '../../../../reconciler/kube/error-message.ts';
import { KubeError } from '../../../../reconciler/kube/errors.ts';
import type { ObjectMeta } from '../../../../reconciler/kube/object.ts';
import { InvalidConfiguration } from '../../../../reconciler/engine/outcome.ts';

const base64 = (values: Readonly<Record<string, string | Buffer>>) =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));

const secret = (
  namespace: string,
  name: string,
  values: Readonly<Record<string, string | Buffer>>,
  metadata: Partial<ObjectMeta> = {},
): SecretObject => ({
  apiVersion: Secret.apiVersion,
  kind: Secret.kind,
  metadata: { ...metadata, namespace, name },
  data: base64(values),
});

const address = { accessKeyID: 'AKIA-hidden', secretAccessKey: 's3cr3t-hidden', region: 'eu', bucket: 'all/eu' };
const [one, two] = [randomBytes(32), randomBytes(32)];

const self = { namespace: 'team', cluster: 'c1' };
const open = async (spec: object, secrets: readonly SecretObject[], owner: BackupOwner = self) => {
  const { store, keys } = await openStore(
    { namespace: 'team', owner },
    Backup.parse({ schedule: '@daily', secret: { name: 's3' }, ...spec }),
    {
      secret: async (place) =>
        secrets.find(({ metadata }) => metadata.namespace === place.namespace && metadata.name === place.name),
      serviceAccountToken: async (name, audience) => {
        if (name === 'missing') throw new Error('no ServiceAccount missing');
        return `token of ${name} for ${audience}`;
      },
    },
  );
  store.close();
  return { settings: store.settings, keys: keys.map(({ id }) => id) };
};

const own = secret('team', 's3', address);
const shared = { secret: { name: 's3', namespace: 'storage' } };
const access = 'controlplane.cluster.x-k8s.io/backup-access';
const restoreFrom = 'controlplane.cluster.x-k8s.io/restore-from';
const encryption = { encryption: { secretName: 'keys' } };
const encrypting = (name: string) => ({ annotations: { 'controlplane.cluster.x-k8s.io/encryption-key': name } });

describe('the backup store', () => {
  it('is opened with the Secret beside the HostedControlPlane', async () => {
    const { settings, keys } = await open({}, [own]);
    expect(settings).toMatchObject({ region: 'eu', bucket: 'all', prefix: 'eu' });
    expect(keys).toEqual([]);
  });

  it('is opened with a Secret of another namespace that grants access to this one', async () => {
    const sharing = secret('storage', 's3', address, { labels: { [access]: 'team' } });
    expect((await open(shared, [sharing])).settings.bucket).toBe('all');
  });

  it('is not opened with a Secret that the operator may not read, and the message says how to let it', async () => {
    const secret = () => Promise.reject(new KubeError('forbidden', { code: 403, reason: 'Forbidden' }));
    const spec = Backup.parse({ schedule: '@daily', ...shared });
    const opened = openStore({ namespace: 'team', owner: self }, spec, { secret, serviceAccountToken: async () => '' });
    await expect(opened).rejects.toThrow(InvalidConfiguration);
    await expect(opened).rejects.toThrow(
      'the operator may not read Secret storage/s3: grant its ServiceAccount to get s3 by a Role in namespace storage',
    );
  });

  const granted = (labels: Readonly<Record<string, string>> = {}) =>
    secret('storage', 's3', address, { labels: { [access]: 'team', ...labels } });
  const others = { namespace: 'team-b', cluster: 'prod' };
  it.each<[string, object, SecretObject, BackupOwner, string | undefined]>([
    ['own backups with a shared Secret', shared, granted(), self, undefined],
    ['own backups of another Cluster', shared, granted(), { namespace: 'team', cluster: 'c2' }, undefined],
    ["other tenants' backups with one's own Secret", {}, own, others, undefined],
    [
      "other tenants' backups with a shared Secret",
      shared,
      granted(),
      others,
      `Secret storage/s3 lets namespace team restore its own backups, and not the backups of namespace team-b: correct etcd.restore.from, or ask its owner for a Secret with the labels ${access}: team and ${restoreFrom}: team-b`,
    ],
    ['backups that the Secret grants', shared, granted({ [restoreFrom]: 'team-b' }), others, undefined],
    [
      'backups that the Secret grants to another namespace, though it lists this one too',
      shared,
      secret('storage', 's3', address, {
        annotations: { [access]: 'team' },
        labels: { [access]: 'team-c', [restoreFrom]: 'team-b' },
      }),
      others,
      'not the backups of namespace team-b',
    ],
    [
      'backups besides those that the Secret grants',
      shared,
      granted({ [restoreFrom]: 'team-c' }),
      others,
      'not the backups',
    ],
    [
      'a name of the bucket that is a password',
      { secret: { ...shared.secret, bucketKey: 'secretAccessKey' } },
      granted(),
      self,
      'its keys have the default names: remove etcd.backup.secret.bucketKey',
    ],
    [
      'a host and a region that are passwords',
      { secret: { ...shared.secret, hostKey: 'accessKeyID', regionKey: 'secretAccessKey' } },
      granted(),
      self,
      'remove etcd.backup.secret.hostKey, etcd.backup.secret.regionKey',
    ],
    [
      'an ID that is a secret, which is sent in clear',
      { secret: { ...shared.secret, accessKeyIDKey: 'secretAccessKey' } },
      granted(),
      self,
      'remove etcd.backup.secret.accessKeyIDKey',
    ],
    [
      'a secret key and a CA from other keys',
      { secret: { ...shared.secret, secretAccessKeyKey: 'bucket', certificateAuthorityKey: 'host' } },
      granted(),
      self,
      'remove etcd.backup.secret.secretAccessKeyKey, etcd.backup.secret.certificateAuthorityKey',
    ],
    [
      'a secret of the own namespace as what it is not',
      { secret: { name: 's3', bucketKey: 'secretAccessKey', secretAccessKeyKey: 'other' } },
      own,
      self,
      'etcd.backup.secret.bucketKey names the key of another setting',
    ],
    [
      'one value of the own namespace as two settings',
      { secret: { name: 's3', accessKeyIDKey: 'password', secretAccessKeyKey: 'password' } },
      secret('team', 's3', { ...address, password: 'hidden' }),
      self,
      'etcd.backup.secret.accessKeyIDKey, etcd.backup.secret.secretAccessKeyKey name the key of another setting',
    ],
    [
      'what Kubernetes has issued',
      {},
      { ...own, type: 'kubernetes.io/service-account-token' },
      self,
      'is of type kubernetes.io/service-account-token',
    ],
    [
      'a region that makes another host of the token service',
      {},
      secret('team', 's3', { ...address, region: 'x.example.net/' }),
      self,
      'region of the Secret is not a region',
    ],
  ])('gives %s only as its owner allows', async (_, spec, of, owner, refusal) => {
    const outcome = await open(spec, [of], owner).then(
      ({ settings }) => settings.bucket,
      (error: unknown) => `${error instanceof InvalidConfiguration ? error.reason : 'unexpected'}: ${messageOf(error)}`,
    );
    expect(outcome).toMatch(refusal === undefined ? /^all$/ : /^BackupSecretInvalid: /);
    expect(outcome).toContain(refusal ?? 'all');
    expect(outcome).not.toContain('hidden');
  });

  it('is opened as a ServiceAccount, and then needs no keys in the Secret', async () => {
    const webIdentity = { roleARN: 'arn:aws:iam::1:role/backup', serviceAccountName: 'backup' };
    const { settings } = await open({ webIdentity }, [secret('team', 's3', { region: 'eu', bucket: 'all' })]);
    const { credentials } = settings;
    if (credentials.kind !== 'webIdentity') throw new Error('static keys');
    expect(credentials.roleArn).toBe('arn:aws:iam::1:role/backup');
    expect(await credentials.token()).toBe('token of backup for sts.amazonaws.com');
  });

  it('names the ServiceAccount that has no token', async () => {
    const webIdentity = { roleARN: 'arn:aws:iam::1:role/backup', serviceAccountName: 'missing' };
    const { settings } = await open({ webIdentity }, [secret('team', 's3', { region: 'eu', bucket: 'all' })]);
    const { credentials } = settings;
    if (credentials.kind !== 'webIdentity') throw new Error('static keys');
    await expect(credentials.token()).rejects.toMatchObject({
      reason: 'CredentialsRefused',
      message: expect.stringContaining('cannot sign in to the store: no ServiceAccount missing'),
    });
  });

  it('has the keys of its Secret, the encrypting one first', async () => {
    expect((await open(encryption, [own, secret('team', 'keys', { only: one })])).keys).toEqual(['only']);
    const several = secret('team', 'keys', { '2025': one, '2026': two }, encrypting('2026'));
    expect((await open(encryption, [own, several])).keys).toEqual(['2026', '2025']);
  });

  it.each<[string, object, SecretObject[], string]>([
    [
      'is fine, but its token service is asked in clear',
      { webIdentity: { roleARN: 'r', serviceAccountName: 'backup', tokenServiceURL: 'http://sts.example.org' } },
      [own],
      'tokenServiceURL does not begin with https://',
    ],
    ['does not exist', {}, [], 'Secret team/s3 with the address of the bucket does not exist: create it'],
    ['lacks keys', {}, [secret('team', 's3', { region: 'eu' })], 'Secret team/s3: the Secret has no accessKeyID'],
    [
      'is in another namespace and grants nothing',
      shared,
      [secret('storage', 's3', address)],
      `Secret storage/s3 does not exist or does not let namespace team use it: ask its owner to create it with the annotation ${access}: team, or to add team to that list`,
    ],
    [
      'grants access to another namespace',
      shared,
      [secret('storage', 's3', address, { labels: { [access]: 'other' } })],
      'does not let namespace team use it',
    ],
    [
      'has an invalid CA',
      {},
      [secret('team', 's3', { ...address, 'ca.crt': 'hidden' })],
      'ca.crt of the Secret is not a certificate in PEM',
    ],
    [
      'of the keys does not exist',
      encryption,
      [own],
      'Secret team/keys with the keys that encrypt backups does not exist',
    ],
    ['of the keys is empty', encryption, [own, secret('team', 'keys', {})], 'Secret team/keys: it contains no key'],
    [
      'of the keys has several and selects none',
      encryption,
      [own, secret('team', 'keys', { a: one, b: two })],
      'Secret team/keys: it contains several keys: set its annotation',
    ],
    [
      'of the keys selects one that it lacks',
      encryption,
      [own, secret('team', 'keys', { a: one }, encrypting('b'))],
      'names "b", but it contains no such key',
    ],
    [
      'of the keys contains an invalid key',
      encryption,
      [own, secret('team', 'keys', { a: 'hidden' })],
      'Secret team/keys: encryption key "a" has 6 bytes',
    ],
  ])('is not opened with a Secret that %s', async (_, spec, secrets, message) => {
    const error: unknown = await open(spec, secrets).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InvalidConfiguration);
    expect(error).toMatchObject({ reason: 'BackupSecretInvalid', message: expect.stringContaining(message) });
    expect(String(error)).not.toContain('hidden');
  });
});
