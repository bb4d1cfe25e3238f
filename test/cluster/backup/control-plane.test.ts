import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { backupAccess, backupIdentityAnnotation } from '../../../constructs/api/group.ts';
import { HostedControlPlane, Secret } from '../../../constructs/api/resources.ts';
import { readRecoveryBundle } from '../../../reconciler/backup/recovery-bundle.ts';
import { readEncryptionKey } from '../../../reconciler/backup/encryption-keys.ts';
import { backupId } from '../../../reconciler/backup/names.ts';
import { foundedClusterIds } from '../../../reconciler/etcd/derived-ids.ts';
import { ownerMarker } from '../../../reconciler/backup/owner-marker.ts';
import { createCA, validFor } from '../../../reconciler/pki/issue.ts';
import { BackupWorkbench, unverifiedBackup } from '../../support/backup-workbench.ts';
import { CountingServer } from '../../support/counting-server.ts';
import { recordFault } from '../../support/fault-table.ts';
import { FlakyProxy } from '../../support/flaky-proxy.ts';
import { freePort } from '../../support/free-port.ts';
import { snapshotFacts } from '../../support/snapshot-facts.ts';
import { startS3 } from '../../support/s3.ts';
import { SmallDisk } from '../../support/small-disk.ts';
import { endNamespace, makeNamespace } from '../../support/test-namespace.ts';
import { until } from '../../support/until.ts';
import { single } from '../../support/workbench.ts';
import { tolerateProblem, type Problem } from './store-problem.ts';
import { Tenant } from './tenant.ts';

const namespace = 'backups';
const fieldManager = 'test';
const limitMs = 240_000;
const key = randomBytes(32);
let bench: BackupWorkbench;
let disk: SmallDisk;
let proxy: FlakyProxy;
beforeAll(async () => {
  disk = await SmallDisk.mount(64);
  const s3 = await startS3('tls', disk.directory);
  proxy = await FlakyProxy.start(Number(new URL(s3.settings.endpoint ?? '').port));
  const endpoint = `https://127.0.0.1:${proxy.port}`;
  bench = await BackupWorkbench.start({ namespace, withoutImage: true, s3, endpoint });
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
  await bench.close();
  await proxy.stop();
  await disk.unmount();
});

const backups = () => bench.backups('c1', [readEncryptionKey('2026', key)]);

const spec = {
  ...single,
  etcd: {
    replicas: 1,
    backup: {
      ...unverifiedBackup,
      encryption: { secretName: 'backup-keys' },
      retention: { maxCount: 3 },
    },
  },
};

describe('a control plane with backups', () => {
  test('has a backup as soon as it is ready, with everything that a rebuild needs', async () => {
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
    const bundle = await readRecoveryBundle(backups().readRecoveryBundle(newest));
    expect(bundle.secrets.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['c1-ca', 'c1-etcd', 'c1-proxy', 'c1-sa']),
    );
    expect(bundle.hostedControlPlane.spec).toMatchObject({ version: spec.version });
  });

  test('is backed up on request, and keeps the configured number of backups', async () => {
    for (const text of ['one', 'two', 'three']) await bench.takeBackup('c1', text, limitMs);
    const { backups: kept, unfinished } = await backups().list();
    expect(kept).toHaveLength(3);
    expect(unfinished).toEqual([]);
    expect((await backups().manifest(kept[0]!)).takenFor).toEqual(['request:three']);
    expect((await backups().manifest(kept[0]!)).keys.byResource['/registry/namespaces']).toBeGreaterThan(3);
  });

  test('counts and keeps only its own, beside another one of its name', async () => {
    const { metadata, status } = await bench.get('c1');
    const own = (await backups().list()).backups;
    expect(own.map(({ owner }) => owner)).toEqual(own.map(() => metadata.uid));
    const { clusterIds } = await backups().marker(own[0]!);
    expect(clusterIds).toEqual([status?.etcd?.clusterID]);
    // etcd itself computes this ID from the name alone: it distinguishes nothing.
    expect(foundedClusterIds({ namespace, name: 'c1' })).toContain(status?.etcd?.clusterID);

    const rehearsed = { time: Date.now() + 3_600_000, revision: 1 };
    const marker = ownerMarker({ uids: ['rehearsal'], clusterIds: [] }, 'c3');
    await backups().write({
      name: rehearsed,
      facts: snapshotFacts,
      marker,
      snapshot: Readable.from([Buffer.from('x')]),
    });
    await bench.takeBackup('c1', 'beside', limitMs);
    const shared = { status: 'False', reason: 'BackupFolderShared' } as const;
    const { message } = await bench.untilCondition('c1', 'EtcdBackupReady', shared, limitMs);
    expect(message).toContain(`${backupId(rehearsed)} is of the HostedControlPlane with uid rehearsal`);
    const { backups: kept } = await backups().list();
    expect(kept.map(({ owner }) => owner)).toEqual(['rehearsal', metadata.uid, metadata.uid, metadata.uid]);
    await backups().delete(rehearsed);
    await bench.takeBackup('c1', 'alone', limitMs);
    await bench.untilCondition('c1', 'EtcdBackupReady', { status: 'True' }, limitMs);
  });

  test('takes no second backup when its status is lost', async () => {
    const before = (await backups().list()).backups;
    await bench.stopOperator();
    const backup = { lastBackup: null, lastRequest: null, lastAttemptTime: null };
    const { metadata } = await bench.get('c1');
    await bench.client.mergePatch(
      HostedControlPlane,
      { namespace, name: metadata.name },
      { status: { etcd: { backup } } },
      { fieldManager, subresource: 'status' },
    );
    await bench.startOperator();
    await bench.untilBackup('c1', 'alone', limitMs);
    // The following problems are compared with a control plane that is ready.
    await bench.untilReady('c1', limitMs);
    expect((await backups().list()).backups).toEqual(before);
  });
});

test('a Secret that is missing is told long before the next backup', async () => {
  const before = (await backups().list()).backups;
  const use = (name: string) => bench.patch('c1', { spec: { etcd: { backup: { secret: { name } } } } });
  await use('missing');
  const refused = { status: 'False', reason: 'BackupSecretInvalid' } as const;
  const { message } = await bench.untilCondition('c1', 'EtcdBackupReady', refused, limitMs);
  expect(message).toContain(`Secret ${namespace}/missing with the address of the bucket does not exist: create it`);
  await use('backups');
  await bench.untilCondition('c1', 'EtcdBackupReady', { status: 'True' }, limitMs);
  expect((await backups().list()).backups).toEqual(before);
});

describe('a tenant who names the Secret of a bucket in a namespace of the platform', () => {
  const platform = 'platform-of-backups';
  const refused = { status: 'False', reason: 'BackupSecretInvalid' } as const;
  const use = { etcd: { backup: { secret: { name: 'shared', namespace: platform } } } };
  let tenant: Tenant;
  beforeAll(async () => {
    await makeNamespace(bench.client, platform);
    await share({});
    const rights = await bench.rights;
    for (const name of ['shared', 'nothing']) await rights.grantBackupSecret({ namespace: platform, name });
    tenant = await Tenant.in(bench.client, inject('testbed'), namespace);
  });
  afterAll(async () => {
    await tenant.change('c1-cp', { etcd: { restore: null, backup: { secret: { name: 'backups', namespace: null } } } });
    await bench.untilCondition('c1', 'EtcdBackupReady', { status: 'True' }, limitMs);
    await endNamespace(bench.client, platform);
    await tenant.remove();
  });

  /** Writes the Secret, with what its owner says of others. */
  const share = async (annotations: Readonly<Record<string, string>>) => {
    const { metadata, ...secret } = bench.secretOfStore({ namespace: platform, name: 'shared' });
    await bench.client.apply({ ...secret, metadata: { ...metadata, annotations } }, { fieldManager, force: true });
  };

  test('may not read it, and learns not even that it exists', async () => {
    expect(await tenant.kubectl('get', 'secret', 'shared', '--namespace', platform)).toContain('is forbidden');
    expect(await tenant.change('c1-cp', use)).toContain('patched');
    const { message } = await bench.untilCondition('c1', 'EtcdBackupReady', refused, limitMs);
    expect(message).toContain(`Secret ${platform}/shared does not exist or does not let namespace ${namespace} use it`);
    const nothing = { etcd: { backup: { secret: { name: 'nothing' } } } };
    await tenant.change('c1-cp', nothing);
    const words = new RegExp(`Secret ${platform}/nothing does not exist or does not let namespace ${namespace} use it`);
    await bench.untilCondition('c1', 'EtcdBackupReady', { ...refused, message: words }, limitMs);
  });

  test('uses it when it names the namespace, for its own backups and for no others', async () => {
    await tenant.change('c1-cp', use);
    await share({ [backupAccess]: namespace });
    await bench.untilCondition('c1', 'EtcdBackupReady', { status: 'True' }, limitMs);

    const pods = (await bench.pods('c1', 'etcd')).map(({ metadata }) => metadata.uid);
    await tenant.change('c1-cp', { etcd: { restore: { latest: true, from: { namespace: 'other', cluster: 'c1' } } } });
    const because = { ...refused, message: /restore its own backups, and not those of namespace other/ };
    await bench.untilCondition('c1', 'EtcdRestoreReady', because, limitMs);
    expect((await bench.pods('c1', 'etcd')).map(({ metadata }) => metadata.uid)).toEqual(pods);
  });
});

describe('a tenant who names a ServiceAccount that is not its own, and a token service of its own', () => {
  const identity = (audience: string, port: number) => ({
    etcd: {
      backup: {
        webIdentity: {
          roleARN: 'arn:aws:iam::1:role/any',
          serviceAccountName: 'default',
          audience,
          tokenServiceURL: `https://127.0.0.1:${port}/`,
        },
      },
    },
  });
  let tenant: Tenant;
  let service: CountingServer;
  beforeAll(async () => {
    tenant = await Tenant.in(bench.client, inject('testbed'), namespace);
    service = await CountingServer.start();
    await (await bench.rights).grantBackupIdentity(namespace);
  });
  afterAll(async () => {
    await tenant.change('c1-cp', { etcd: { backup: { webIdentity: null } } });
    await bench.untilCondition('c1', 'EtcdBackupReady', { status: 'True' }, limitMs);
    await service.stop();
    await tenant.remove();
  });

  test('may not let itself use it', async () => {
    const words = await tenant.kubectl('annotate', 'serviceaccount', 'default', `${backupIdentityAnnotation}=c1-cp`);
    expect(words).toContain('is forbidden');
  });

  test.each(['sts.amazonaws.com', 'https://kubernetes.default.svc.cluster.local'])(
    'gets no token for %s, and nothing is sent to its service',
    async (audience) => {
      expect(await tenant.change('c1-cp', identity(audience, service.port))).toContain('patched');
      const refused = /ServiceAccount backups\/default does not let HostedControlPlane c1-cp use its tokens/;
      await bench.untilCondition('c1', 'EtcdBackupReady', { status: 'False', message: refused }, limitMs);
      const { requests } = bench.operator;
      expect(requests.filter(({ verb, resource }) => verb === 'create' && resource === 'serviceaccounts')).toEqual([]);
      expect(service.connections).toBe(0);
    },
  );
});

const problems: readonly Problem[] = [
  {
    fault: 'the S3 server refuses connections',
    reason: 'StoreUnavailable',
    message: /the store cannot be reached/,
    cause: async () => bench.setStore({ host: `https://127.0.0.1:${await freePort()}` }),
    heal: () => bench.setStore(),
  },
  {
    fault: 'the S3 server does not know the credentials',
    reason: 'StoreUnavailable',
    message: /does not accept the credentials/,
    cause: () => bench.setStore({ secretAccessKey: 'wrong' }),
    heal: () => bench.setStore(),
  },
  {
    fault: 'the S3 server has a certificate of another CA',
    reason: 'StoreUnavailable',
    message: /not signed by a trusted CA/,
    cause: async () => {
      const { certificate } = await createCA({ commonName: 'other' }, validFor(3_600_000, new Date()));
      await bench.setStore({ 'ca.crt': certificate });
    },
    heal: () => bench.setStore(),
  },
  {
    fault: 'the disk of the S3 server is full',
    reason: 'StoreUnavailable',
    message: /the store (is full|cannot serve the request now)/,
    cause: () => disk.fill(200),
    heal: () => disk.empty(),
  },
  {
    fault: 'the Secret of the bucket lacks its bucket',
    reason: 'BackupSecretInvalid',
    message: /the Secret has no bucket: add it/,
    cause: () => bench.setStore({ bucket: '' }),
    heal: () => bench.setStore(),
  },
];

describe('when', () => {
  test.each(problems)(
    '$fault, one condition reports it and nothing else changes, and later backups are taken',
    async (problem) => {
      await expect(tolerateProblem(bench, 'c1', problem, limitMs)).resolves.toBeUndefined();
    },
  );

  test('the S3 server is slow, the condition reports the progress, and nothing else waits', async () => {
    const writes = () =>
      bench.operator.requests.filter(({ verb, resource }) => verb === 'apply' && resource === 'hostedcontrolplanes');
    const before = writes().length;
    proxy.slowDown(10_000);
    await bench.requestBackup('c1', 'slowly');
    const began = performance.now();
    const { message } = await until(
      'progress in the condition',
      async () => {
        // A snapshot as small as this one is read at once and reports no progress afterwards: the next reconcile writes it.
        await bench.patch('c1', { metadata: { annotations: { 'test/reconcile': String(performance.now()) } } });
        const condition = await bench.condition('c1', 'EtcdBackupReady');
        return condition && / of about \d+ MiB uploaded, \d+ s$/.test(condition.message) && condition;
      },
      limitMs,
    );
    expect(message).toMatch(/^\d+ of about/);
    await bench.untilCondition('c1', 'Ready', { status: 'True' }, limitMs);
    proxy.slowDown(Infinity);
    await bench.untilBackup('c1', 'slowly', limitMs);
    const seconds = (performance.now() - began) / 1000;
    // One status per progress report, every ten seconds, and some others.
    expect(writes().length - before).toBeLessThan(seconds / 10 + 6);
    await recordFault({
      fault: 'the S3 server takes 10 kB a second',
      observed: 'EtcdBackupReady stays True and reports the progress of the upload; nothing waits for it',
      recoverySeconds: undefined,
      dataLost: 'none',
    });
  });
});
