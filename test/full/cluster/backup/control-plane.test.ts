import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { backupAccess, backupIdentityAnnotation } from '../../../../constructs/api/group.ts';
import { HostedControlPlane } from '../../../../constructs/api/resources.ts';
import { backupId } from '../../../../constructs/cluster/backup-names.ts';
import { ownerMarker } from '../../../../reconciler/backup/owner-marker.ts';
import { foundedClusterIds } from '../../../../reconciler/etcd/derived-ids.ts';
import { createCA, validFor } from '../../../../reconciler/pki/issue.ts';
import { backup, BackedUp, limitMs } from '../../../cluster/backup/backed-up.ts';
import { type Problem, tolerateProblem } from '../../../cluster/backup/store-problem.ts';
import { Tenant } from '../../../cluster/backup/tenant.ts';
import { CountingServer } from '../../../support/counting-server.ts';
import { recordFault } from '../../../support/fault-table.ts';
import { freePort } from '../../../support/free-port.ts';
import { snapshotFacts } from '../../../support/snapshot-facts.ts';
import { endNamespace, makeNamespace } from '../../../support/test-namespace.ts';
import { until } from '../../../support/until.ts';

const fieldManager = 'test';
const backed = new BackedUp();
beforeAll(async () => {
  await backed.bench.patch('c1', { spec: { etcd: { backup } } });
  await until('the first backup', async () => (await backed.bench.get('c1')).status?.etcd?.backup?.lastBackup, limitMs);
  for (const text of ['one', 'two', 'three']) await backed.bench.takeBackup('c1', text, limitMs);
});

describe('a control plane with backups', () => {
  test('counts and keeps only its own, beside another one of its name', async () => {
    const { metadata, status } = await backed.bench.get('c1');
    const own = (await backed.backups.list()).backups;
    expect(own.map(({ owner }) => owner)).toEqual(own.map(() => metadata.uid));
    const { clusterIds } = await backed.backups.marker(own[0]!);
    expect(clusterIds).toEqual([status?.etcd?.clusterID]);
    // etcd itself computes this ID from the name alone: it distinguishes nothing.
    expect(foundedClusterIds({ namespace: backed.bench.namespace, name: 'c1' })).toContain(status?.etcd?.clusterID);

    const rehearsed = { time: Date.now() + 3_600_000, revision: 1 };
    const marker = ownerMarker({ uids: ['rehearsal'], clusterIds: [] }, 'c3');
    await backed.backups.write({
      name: rehearsed,
      facts: snapshotFacts,
      marker,
      snapshot: Readable.from([Buffer.from('x')]),
    });
    await backed.bench.takeBackup('c1', 'beside', limitMs);
    const shared = { status: 'False', reason: 'BackupFolderShared' } as const;
    const { message } = await backed.bench.untilCondition('c1', 'EtcdBackupReady', shared, limitMs);
    expect(message).toContain(`${backupId(rehearsed)} is of the HostedControlPlane with uid rehearsal`);
    const { backups: kept } = await backed.backups.list();
    expect(kept.map(({ owner }) => owner)).toEqual(['rehearsal', metadata.uid, metadata.uid, metadata.uid]);
    await backed.backups.delete(rehearsed);
    await backed.bench.takeBackup('c1', 'alone', limitMs);
    await backed.bench.untilCondition('c1', 'EtcdBackupReady', { status: 'True' }, limitMs);
  });

  test('takes no second backup when its status is lost', async () => {
    const before = (await backed.backups.list()).backups;
    await backed.bench.stopOperator();
    const backup = { lastBackup: null, lastRequest: null, lastAttemptTime: null };
    const { metadata } = await backed.bench.get('c1');
    await backed.bench.client.mergePatch(
      HostedControlPlane,
      { namespace: backed.bench.namespace, name: metadata.name },
      { status: { etcd: { backup } } },
      { fieldManager, subresource: 'status' },
    );
    await backed.bench.startOperator();
    await backed.bench.untilBackup('c1', 'alone', limitMs);
    // The following problems are compared with a control plane that is ready.
    await backed.bench.untilReady('c1', limitMs);
    expect((await backed.backups.list()).backups).toEqual(before);
  });
});

describe('a tenant who names the Secret of a bucket in a namespace of the platform', () => {
  const platform = 'platform-of-backups';
  const refused = { status: 'False', reason: 'BackupSecretInvalid' } as const;
  const use = { etcd: { backup: { secret: { name: 'shared', namespace: platform } } } };
  let tenant: Tenant;
  beforeAll(async () => {
    await makeNamespace(backed.bench.client, platform);
    await share({});
    const rights = await backed.bench.rights;
    for (const name of ['shared', 'nothing']) await rights.grantBackupSecret({ namespace: platform, name });
    tenant = await Tenant.in(backed.bench.client, inject('testbed'), backed.bench.namespace);
  });
  afterAll(async () => {
    await tenant.change('c1-cp', { etcd: { restore: null, backup: { secret: { name: 'backups', namespace: null } } } });
    await backed.bench.untilCondition('c1', 'EtcdBackupReady', { status: 'True' }, limitMs);
    await endNamespace(backed.bench.client, platform);
    await tenant.remove();
  });

  /** Writes the Secret, with what its owner says of others. */
  const share = async (annotations: Readonly<Record<string, string>>) => {
    const { metadata, ...secret } = backed.bench.secretOfStore({ namespace: platform, name: 'shared' });
    await backed.bench.client.apply(
      { ...secret, metadata: { ...metadata, annotations } },
      { fieldManager, force: true },
    );
  };

  test('may not read it, and learns not even that it exists', async () => {
    expect(await tenant.kubectl('get', 'secret', 'shared', '--namespace', platform)).toContain('is forbidden');
    expect(await tenant.change('c1-cp', use)).toContain('patched');
    const { message } = await backed.bench.untilCondition('c1', 'EtcdBackupReady', refused, limitMs);
    expect(message).toContain(
      `Secret ${platform}/shared does not exist or does not let namespace ${backed.bench.namespace} use it`,
    );
    const nothing = { etcd: { backup: { secret: { name: 'nothing' } } } };
    await tenant.change('c1-cp', nothing);
    const words = new RegExp(
      `Secret ${platform}/nothing does not exist or does not let namespace ${backed.bench.namespace} use it`,
    );
    await backed.bench.untilCondition('c1', 'EtcdBackupReady', { ...refused, message: words }, limitMs);
  });

  test('uses it when it names the namespace, for its own backups and for no others', async () => {
    await tenant.change('c1-cp', use);
    await share({ [backupAccess]: backed.bench.namespace });
    await backed.bench.untilCondition('c1', 'EtcdBackupReady', { status: 'True' }, limitMs);

    const pods = (await backed.bench.pods('c1', 'etcd')).map(({ metadata }) => metadata.uid);
    await tenant.change('c1-cp', { etcd: { restore: { latest: true, from: { namespace: 'other', cluster: 'c1' } } } });
    const because = { ...refused, message: /restore its own backups, and not the backups of namespace other/ };
    await backed.bench.untilCondition('c1', 'EtcdRestoreReady', because, limitMs);
    expect((await backed.bench.pods('c1', 'etcd')).map(({ metadata }) => metadata.uid)).toEqual(pods);
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
    tenant = await Tenant.in(backed.bench.client, inject('testbed'), backed.bench.namespace);
    service = await CountingServer.start();
    await (await backed.bench.rights).grantBackupIdentity(backed.bench.namespace);
  });
  afterAll(async () => {
    await tenant.change('c1-cp', { etcd: { backup: { webIdentity: null } } });
    await backed.bench.untilCondition('c1', 'EtcdBackupReady', { status: 'True' }, limitMs);
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
      const refused = /ServiceAccount lent-plain\/default does not let HostedControlPlane c1-cp use its tokens/;
      await backed.bench.untilCondition('c1', 'EtcdBackupReady', { status: 'False', message: refused }, limitMs);
      const { requests } = backed.bench.operator;
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
    cause: async () => backed.bench.setStore({ host: `https://127.0.0.1:${await freePort()}` }),
    heal: () => backed.bench.setStore(),
  },
  {
    fault: 'the S3 server has a certificate of another CA',
    reason: 'StoreUnavailable',
    message: /not signed by a trusted CA/,
    cause: async () => {
      const { certificate } = await createCA({ commonName: 'other' }, validFor(3_600_000, new Date()));
      await backed.bench.setStore({ 'ca.crt': certificate });
    },
    heal: () => backed.bench.setStore(),
  },
  {
    fault: 'the disk of the S3 server is full',
    reason: 'StoreUnavailable',
    message: /the store (is full|cannot serve the request now)/,
    cause: () => backed.parts.disk.fill(200),
    heal: () => backed.parts.disk.empty(),
  },
  {
    fault: 'the Secret of the bucket lacks its bucket',
    reason: 'BackupSecretInvalid',
    message: /the Secret has no bucket: add it/,
    cause: () => backed.bench.setStore({ bucket: '' }),
    heal: () => backed.bench.setStore(),
  },
];

describe('when', () => {
  test.each(problems)(
    '$fault, one condition reports it and nothing else changes, and later backups are taken',
    async (problem) => {
      await expect(tolerateProblem(backed.bench, 'c1', problem, limitMs)).resolves.toBeUndefined();
    },
  );

  test('the S3 server is slow, the condition reports the progress, and nothing else waits', async () => {
    const writes = () =>
      backed.bench.operator.requests.filter(
        ({ verb, resource }) => verb === 'apply' && resource === 'hostedcontrolplanes',
      );
    const before = writes().length;
    backed.parts.proxy.slowDown(10_000);
    await backed.bench.requestBackup('c1', 'slowly');
    const began = performance.now();
    const { message } = await until(
      'progress in the condition',
      async () => {
        // A snapshot as small as this one is read at once and reports no progress afterwards: the next reconcile writes it.
        await backed.bench.patch('c1', { metadata: { annotations: { 'test/reconcile': String(performance.now()) } } });
        const condition = await backed.bench.condition('c1', 'EtcdBackupReady');
        return condition && / of about \d+ MiB uploaded, \d+ s$/.test(condition.message) && condition;
      },
      limitMs,
    );
    expect(message).toMatch(/^\d+ of about/);
    await backed.bench.untilCondition('c1', 'Ready', { status: 'True' }, limitMs);
    backed.parts.proxy.slowDown(Infinity);
    await backed.bench.untilBackup('c1', 'slowly', limitMs);
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
