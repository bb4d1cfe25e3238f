import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { backupAnnotation } from '../../../constructs/api/group.ts';
import { HostedControlPlane, Secret } from '../../../constructs/api/resources.ts';
import { readBundle } from '../../../reconciler/backup/bundle.ts';
import { ClusterBackups } from '../../../reconciler/backup/cluster-backups.ts';
import { readEncryptionKey } from '../../../reconciler/backup/encryption-keys.ts';
import { backupId } from '../../../reconciler/backup/names.ts';
import { ObjectStore } from '../../../reconciler/backup/object-store.ts';
import { createAuthority, validFor } from '../../../reconciler/pki/issue.ts';
import { storeSecret } from '../../support/backup-secrets.ts';
import { recordFault } from '../../support/fault-table.ts';
import { FlakyProxy } from '../../support/flaky-proxy.ts';
import { freePort } from '../../support/free-port.ts';
import { startOperator, type TestOperator } from '../../support/operator.ts';
import { startS3, type S3 } from '../../support/s3.ts';
import { SmallDisk } from '../../support/small-disk.ts';
import { until } from '../../support/until.ts';
import { single, Workbench } from '../../support/workbench.ts';

const namespace = 'backups';
const fieldManager = 'test';
const limitMs = 240_000;
const key = randomBytes(32);
let bench: Workbench;
let operator: TestOperator;
let disk: SmallDisk;
let s3: S3;
let proxy: FlakyProxy;
let store: ObjectStore;
beforeAll(async () => {
  disk = await SmallDisk.mount(64);
  s3 = await startS3('tls', disk.directory);
  proxy = await FlakyProxy.start(Number(new URL(s3.settings.endpoint ?? '').port));
  store = new ObjectStore(s3.settings);
  bench = await Workbench.open(inject('kubeconfig'), namespace);
  operator = await startOperator({ kubeconfig: inject('kubeconfig'), namespace });
  await setStore();
  await bench.client.apply(
    {
      apiVersion: Secret.apiVersion,
      kind: Secret.kind,
      metadata: { namespace, name: 'backup-keys' },
      data: { '2026': key.toString('base64') },
    },
    { fieldManager },
  );
});
afterAll(async () => {
  await bench.deleteAll();
  await operator.stop();
  await bench.close();
  store.close();
  await proxy.stop();
  await s3.stop();
  await disk.unmount();
});

/** Writes the Secret of the bucket, which is reached through the proxy. */
async function setStore(changes: Readonly<Record<string, string>> = {}): Promise<void> {
  const settings = { ...s3.settings, endpoint: `https://127.0.0.1:${proxy.port}` };
  await bench.client.apply(storeSecret({ namespace, name: 's3' }, settings, changes), { fieldManager, force: true });
}

const backups = () => new ClusterBackups(store, { namespace, cluster: 'c1' }, [readEncryptionKey('2026', key)]);
const request = (text: string) => bench.patch('c1', { metadata: { annotations: { [backupAnnotation]: text } } });

/** Asks for a backup and resolves when it is there. */
async function take(text: string): Promise<void> {
  await request(text);
  await until(
    `the backup "${text}"`,
    async () => (await bench.get('c1')).status?.etcd?.backup?.lastRequest === text,
    limitMs,
  );
}

const spec = {
  ...single,
  etcd: {
    replicas: 1,
    backup: {
      schedule: '@daily',
      secret: { name: 's3' },
      encryption: { secretName: 'backup-keys' },
      retention: { maxCount: 3 },
      beforeDeletion: true,
    },
  },
};

describe('a control plane with backups', () => {
  test('has a backup as soon as it is there, with all that a rebuild needs', { timeout: 2 * limitMs }, async () => {
    await bench.create('c1', spec);
    await bench.untilReady('c1', limitMs);
    const { status } = await until(
      'the first backup in the status',
      async () => {
        const object = await bench.get('c1');
        return object.status?.etcd?.backup?.lastBackup ? object : undefined;
      },
      limitMs,
    );
    const [newest] = (await backups().list()).backups;
    if (!newest) throw new Error('no backup is listed');
    expect(backupId(newest)).toBe(status?.etcd?.backup?.lastBackup);
    expect(status?.etcdLastBackupTime).toBe(new Date(newest.time).toISOString());
    expect(Date.parse(status?.etcdNextBackupTime ?? '')).toBeGreaterThan(Date.now());
    const manifest = await backups().manifest(newest);
    expect(manifest).toMatchObject({ kubernetesVersion: spec.version, encryption: { keyId: '2026' } });
    let sizeBytes = 0;
    for await (const chunk of backups().readSnapshot(newest, manifest)) sizeBytes += chunk.length;
    expect(sizeBytes).toBe(manifest.sizeBytes);
    const bundle = await readBundle(backups().readBundle(newest));
    expect(bundle.secrets.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['c1-ca', 'c1-etcd', 'c1-proxy', 'c1-sa']),
    );
    expect(bundle.hostedControlPlane.spec).toMatchObject({ version: spec.version });
  });

  test('is backed up on request, and keeps as many backups as it is told', { timeout: 2 * limitMs }, async () => {
    for (const text of ['one', 'two', 'three']) await take(text);
    const { backups: kept, unfinished } = await backups().list();
    expect(kept).toHaveLength(3);
    expect(unfinished).toEqual([]);
    expect((await backups().manifest(kept[0]!)).takenFor).toEqual(['request:three']);
    expect((await backups().manifest(kept[0]!)).keys.byResource['/registry/namespaces']).toBeGreaterThan(3);
  });

  test('takes no backup twice when its status is lost', { timeout: limitMs }, async () => {
    const before = (await backups().list()).backups;
    await operator.stop();
    const backup = { lastBackup: null, lastRequest: null, lastAttemptTime: null };
    const { metadata } = await bench.get('c1');
    await bench.client.mergePatch(
      HostedControlPlane,
      { namespace, name: metadata.name },
      { status: { etcd: { backup } } },
      { fieldManager, subresource: 'status' },
    );
    operator = await startOperator({ kubeconfig: inject('kubeconfig'), namespace });
    await until(
      'the status to know again',
      async () => (await bench.get('c1')).status?.etcd?.backup?.lastRequest === 'three',
      limitMs,
    );
    expect((await backups().list()).backups).toEqual(before);
  });
});

interface Trouble {
  readonly fault: string;
  readonly reason: 'StoreUnavailable' | 'BackupSecretInvalid';
  readonly message: RegExp;
  readonly cause: () => Promise<void>;
  readonly heal: () => Promise<void>;
}

const troubles: readonly Trouble[] = [
  {
    fault: 'the S3 server refuses connections',
    reason: 'StoreUnavailable',
    message: /the store cannot be reached/,
    cause: async () => setStore({ host: `https://127.0.0.1:${await freePort()}` }),
    heal: () => setStore(),
  },
  {
    fault: 'the S3 server takes connections and is silent',
    reason: 'StoreUnavailable',
    message: /the store cannot be reached|silent for too long/,
    cause: async () => proxy.goSilent(),
    heal: async () => proxy.heal(),
  },
  {
    fault: 'the S3 server does not know the credentials',
    reason: 'StoreUnavailable',
    message: /does not accept the credentials/,
    cause: () => setStore({ secretAccessKey: 'wrong' }),
    heal: () => setStore(),
  },
  {
    fault: 'the S3 server has a certificate of another authority',
    reason: 'StoreUnavailable',
    message: /not signed by an authority that is trusted/,
    cause: async () => {
      const { certificate } = await createAuthority({ commonName: 'other' }, validFor(3_600_000, new Date()));
      await setStore({ 'ca.crt': certificate });
    },
    heal: () => setStore(),
  },
  {
    fault: 'the disk of the S3 server is full',
    reason: 'StoreUnavailable',
    message: /the store (is full|cannot serve this now)/,
    cause: () => disk.fill(200),
    heal: () => disk.empty(),
  },
  {
    fault: 'the Secret of the bucket lacks its bucket',
    reason: 'BackupSecretInvalid',
    message: /the Secret has no bucket: add it/,
    cause: () => setStore({ bucket: '' }),
    heal: () => setStore(),
  },
];

describe('when', () => {
  test.each(troubles)(
    '$fault, one condition says so and nothing else, and later backups are taken',
    { timeout: 2 * limitMs },
    async ({ fault, reason, message, cause, heal }) => {
      await cause();
      await request(`while ${fault}`);
      const condition = await bench.untilCondition('c1', 'EtcdBackupReady', { status: 'False', reason }, limitMs);
      expect(condition.message).toMatch(message);
      const { conditions = [] } = (await bench.get('c1')).status ?? {};
      const away = conditions.filter(({ status, type }) => status === 'False' && /Ready$|^Available$/.test(type));
      expect(away.map(({ type }) => type)).toEqual(['EtcdBackupReady']);
      const before = (await backups().list()).backups;

      await heal();
      const healed = performance.now();
      await take(`after ${fault}`);
      await bench.untilCondition('c1', 'EtcdBackupReady', { status: 'True' }, limitMs);
      const after = (await backups().list()).backups;
      expect(after[0]?.time).toBeGreaterThan(before[0]?.time ?? 0);
      await recordFault({
        fault,
        observed: `EtcdBackupReady False, ${reason}; Ready and Available stay True; half a backup is never listed`,
        recoverySeconds: (performance.now() - healed) / 1000,
        dataLost: 'none',
      });
    },
  );

  test(
    'the S3 server is slow, the condition tells how far it is, and nobody waits',
    { timeout: 2 * limitMs },
    async () => {
      const writes = () =>
        operator.requests.filter(({ verb, resource }) => verb === 'apply' && resource === 'hostedcontrolplanes');
      const before = writes().length;
      proxy.slowDown(40_000);
      await request('slowly');
      const began = performance.now();
      const { message } = await until(
        'progress to be told',
        async () => {
          const { conditions = [] } = (await bench.get('c1')).status ?? {};
          return conditions.find(
            (one) => one.type === 'EtcdBackupReady' && / of about \d+ MiB, \d+ s$/.test(one.message),
          );
        },
        limitMs,
      );
      expect(message).toMatch(/^\d+ of about/);
      await bench.untilCondition('c1', 'Ready', { status: 'True' }, limitMs);
      await until(
        'the backup',
        async () => (await bench.get('c1')).status?.etcd?.backup?.lastRequest === 'slowly',
        limitMs,
      );
      const seconds = (performance.now() - began) / 1000;
      // One status for each report of progress, which come ten seconds apart, and some around them.
      expect(writes().length - before).toBeLessThan(seconds / 10 + 6);
      proxy.slowDown(Infinity);
      await recordFault({
        fault: 'the S3 server takes 40 kB a second',
        observed: 'EtcdBackupReady stays True and tells how far the upload is; nothing waits for it',
        recoverySeconds: undefined,
        dataLost: 'none',
      });
    },
  );

  test('the S3 server is back, a backup is taken although nobody asks again', { timeout: 2 * limitMs }, async () => {
    await setStore({ host: `https://127.0.0.1:${await freePort()}` });
    await request('patience');
    await bench.untilCondition('c1', 'EtcdBackupReady', { status: 'False', reason: 'StoreUnavailable' }, limitMs);
    await setStore();
    await until(
      'the backup',
      async () => (await bench.get('c1')).status?.etcd?.backup?.lastRequest === 'patience',
      limitMs,
    );
    const [newest] = (await backups().list()).backups;
    expect((await backups().manifest(newest!)).takenFor).toEqual(['request:patience']);
  });
});

describe('a control plane that is deleted', () => {
  test(
    'waits for its last backup, says what fails, and has one when it is gone',
    { timeout: 2 * limitMs },
    async () => {
      await setStore({ secretAccessKey: 'wrong' });
      await bench.beginDeletion('c1');
      const { message } = await bench.untilCondition(
        'c1',
        'Deleting',
        { status: 'True', reason: 'WaitingForFinalBackup' },
        limitMs,
      );
      expect(message).toMatch(/the last backup/);
      const said = await until(
        'what fails to be said',
        async () => {
          const { conditions = [] } = (await bench.get('c1')).status ?? {};
          const deleting = conditions.find(({ type }) => type === 'Deleting');
          return deleting?.message.includes('beforeDeletion: false') && deleting.message;
        },
        limitMs,
      );
      expect(said).toContain('does not accept the credentials');
      await setStore();
      await until('the Cluster to be gone', async () => !(await bench.exists('c1')), limitMs);
      const [newest] = (await backups().list()).backups;
      expect((await backups().manifest(newest!)).takenFor).toEqual([expect.stringMatching(/^deletion:/)]);
    },
  );
});
