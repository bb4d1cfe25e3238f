import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostedControlPlaneCRD } from '../../../../constructs/api/crd.ts';
import { backupAnnotation } from '../../../../constructs/api/group.ts';
import { HostedControlPlane } from '../../../../constructs/api/resources.ts';
import type { HostedControlPlaneStatus } from '../../../../constructs/api/status.ts';
import { ClusterBackups } from '../../../../reconciler/backup/cluster-backups.ts';
import { backupId } from '../../../../constructs/cluster/backup-names.ts';
import { ObjectStore } from '../../../../reconciler/backup/store/object-store.ts';
import { plainApiServer } from '../../../support/plain-api-server.ts';
import { storeSecret } from '../../../support/backup-secrets.ts';
import { startS3, type S3 } from '../../../support/s3.ts';
import { HcpUser } from '../../../support/hcp.ts';
import { ownedByCluster } from '../../../support/scope.ts';
import { snapshotFacts } from '../../../support/snapshot-facts.ts';
import { until as untilWithin } from '../../../support/until.ts';
import { type HostedControlPlaneObject, single } from '../../../support/workbench.ts';

const fieldManager = 'test';
const namespace = 'default';
const name = 'c1-x7k2p';

const server = plainApiServer({ definitions: [hostedControlPlaneCRD] });
const { client } = server;
let s3: S3;
let store: ObjectStore;

beforeAll(async () => {
  s3 = await startS3();
  store = new ObjectStore(s3.settings);
  const { apiVersion, kind } = HostedControlPlane;
  const secret = { name: 'bucket' };
  await client.create(
    {
      apiVersion,
      kind,
      metadata: { namespace, name, ownerReferences: [ownedByCluster] },
      spec: { ...single, etcd: { replicas: 1, backup: { schedule: '@daily', secret } } },
    },
    { fieldManager },
  );
  await client.create(storeSecret({ namespace, name: secret.name }, s3.settings), { fieldManager });
});
afterAll(async () => {
  store.close();
  await s3.stop();
});

const user = new HcpUser({ client: () => client, kubeconfig: () => server.kubeconfig, namespace });
afterAll(() => user.end());
const hcp = (...args: string[]) => user.run(...args);
/** On a busy machine a process starts slowly. */
const until: typeof untilWithin = (what, condition) => untilWithin(what, condition, 90_000);

const get = () => client.get<HostedControlPlaneObject>(HostedControlPlane, { namespace, name });

/** Writes the status as the provider does. */
async function report(status: Partial<HostedControlPlaneStatus>): Promise<void> {
  await client.mergePatch(HostedControlPlane, { namespace, name }, { status }, { fieldManager, subresource: 'status' });
}

const condition = (type: string, reason: string, message: string, status: 'True' | 'False' = 'False') => ({
  conditions: [{ type, status, reason, message, lastTransitionTime: new Date().toISOString() }],
});

async function* bytes(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

async function write(cluster: string, hour: number): Promise<string> {
  const backup = { time: Date.parse(`2026-11-21T0${hour}:00:00Z`), revision: 100 + hour };
  await new ClusterBackups(store, { namespace, cluster }).write({
    name: backup,
    facts: snapshotFacts,
    snapshot: bytes('a snapshot'),
  });
  return backupId(backup);
}

describe('hcp backup', () => {
  it('sets the annotation and returns, and finds the control plane by the name of its Cluster', async () => {
    const { code, out } = await hcp('backup', 'c1').ended;
    expect(code).toBe(0);
    expect(out).toBe('backup of c1 requested: see hcp backups c1 -n default\n');
    expect(Date.now() - Date.parse((await get()).metadata.annotations?.[backupAnnotation] ?? '')).toBeLessThan(60_000);
  });

  it('waits, reports the progress, and prints the name of the backup', async () => {
    const before = (await get()).metadata.annotations?.[backupAnnotation];
    const run = hcp('backup', name, '--wait');
    const request = await until('the request', async () => {
      const now = (await get()).metadata.annotations?.[backupAnnotation];
      return now === before ? undefined : now;
    });
    await report(condition('EtcdBackupReady', 'ReconcileSucceeded', '48 of about 120 MiB', 'True'));
    await until('the progress', () => run.reported().includes('s  48 of about 120 MiB'));
    await report({ etcd: { backup: { lastRequest: request, lastBackup: 'the-new-one' } } });
    expect(await run.ended).toMatchObject({ code: 0, out: 'the-new-one\n' });
  });

  it('fails with the message of the provider', async () => {
    const run = hcp('backup', 'c1', '--wait');
    await until('the request', async () => {
      const { metadata, status } = await get();
      return metadata.annotations?.[backupAnnotation] !== status?.etcd?.backup?.lastRequest;
    });
    await report({
      ...condition('EtcdBackupReady', 'StoreUnavailable', 'bucket backups cannot be reached'),
      etcd: { backup: { lastAttemptTime: new Date().toISOString() } },
    });
    expect(await run.ended).toMatchObject({
      code: 1,
      err: expect.stringContaining('hcp: no backup was taken: bucket backups cannot be reached\n'),
    });
  });

  it.each([
    [['backup', 'c2'], 1, 'Cluster "c2" has no HostedControlPlane in namespace default, existing: c1'],
    [
      ['backup', 'c1', '-n', 'kube-system'],
      1,
      'in namespace kube-system, none exists: choose another name, or another namespace with -n',
    ],
    [['backup'], 2, 'the cluster is missing'],
    [['backup', 'c1', '--context', 'moon'], 1, 'the kubeconfig has no context "moon": choose one of '],
  ])('%s fails with a sentence', async (args, code, message) => {
    const ended = await hcp(...args).ended;
    expect(ended.code).toBe(code);
    expect(ended.err).toContain(message);
  });
});

describe('hcp backups', () => {
  it('lists the bucket with the rights of the user', async () => {
    const id = await write('c1', 7);
    const backups = new ClusterBackups(store, { namespace, cluster: 'c1' });
    const verification = {
      formatVersion: 1,
      time: '2026-11-21T08:00:00Z',
      revision: 107,
      restoreSeconds: 2.5,
    } as const;
    await backups.markVerified({ time: Date.parse('2026-11-21T07:00:00Z'), revision: 107 }, verification);
    await store.putText('default/c1/2026-11-21T09-00-00.000Z-109/snapshot.db', 'cut off');

    const table = await hcp('backups', 'c1').ended;
    expect(table.err).toBe('');
    expect(table.out).toMatch(new RegExp(`^NAME .*\n${id} .* 10 B .* 107 .* v1.36.3 .* restored in 2.5s .* no .*no\n`));
    expect(table.out).toContain('\n  2026-11-21T09-00-00.000Z-109, started ');

    const { out } = await hcp('backups', 'c1', '-o', 'json').ended;
    expect(JSON.parse(out)).toMatchObject({ namespace, cluster: 'c1', backups: [{ name: id, keys: 2 }] });
  });

  it('lists an unreadable backup beside the others', async () => {
    await store.putText('default/c1/2026-11-21T06-00-00.000Z-106/manifest.json', '{');
    const { code, out } = await hcp('backups', 'c1').ended;
    expect(code).toBe(0);
    expect(out).toContain('2026-11-21T07-00-00.000Z-107 ');
    expect(out).toContain('Cannot be used:\n  2026-11-21T06-00-00.000Z-106: the manifest of backup');
    await store.delete('default/c1/2026-11-21T06-00-00.000Z-106/manifest.json');
  });

  it('lists those of another cluster, also of a deleted one', async () => {
    const id = await write('gone', 5);
    const { out } = await hcp('backups', 'c1', '--from', 'default/gone').ended;
    expect(out).toContain(id);
    expect(out).not.toContain('-107');
  });
});

describe('hcp restore', () => {
  it('says what will be lost, and changes nothing without a confirmation', async () => {
    const { code, err } = await hcp('restore', 'c1', '--latest').ended;
    expect(code).toBe(2);
    expect(err).toContain('Backup 2026-11-21T07-00-00.000Z-107 replaces all data of c1.');
    expect(err).toContain('Everything written after revision 107, in the last ');
    expect(err).toContain('standard input is not a terminal, so the loss cannot be confirmed: add --yes');
    expect((await get()).spec['etcd']).not.toHaveProperty('restore');
  });

  it('sets the field to the chosen backup, follows the restore and reports its end', async () => {
    const run = hcp('restore', 'c1', '--latest', '--yes', '--wait');
    const { metadata, spec } = await until('the field', async () => {
      const object = await get();
      return (object.spec['etcd'] as { restore?: object }).restore ? object : undefined;
    });
    expect(spec['etcd']).toMatchObject({ restore: { backup: '2026-11-21T07-00-00.000Z-107' } });
    const observedGeneration = metadata.generation ?? 0;
    const begun = { request: 'digest', backup: '2026-11-21T07-00-00.000Z-107', startTime: new Date().toISOString() };
    await report({
      observedGeneration,
      etcd: { restore: { ...begun, step: 'RestoringMembers' } },
      ...condition('EtcdRestoreReady', 'RestoringMembers', '1 of 3 members'),
    });
    await until('the progress', () => run.reported().includes('RestoringMembers: 1 of 3 members'));
    await report({ etcd: { restore: { ...begun, completionTime: new Date().toISOString(), restoredTo: '107' } } });
    expect(await run.ended).toMatchObject({
      code: 0,
      out: '2026-11-21T07-00-00.000Z-107 restored to revision 107\n',
    });
  });

  it('requests the backup of another cluster, and the same one again', async () => {
    const first = ((await get()).spec['etcd'] as { restore: { request: string } }).restore.request;
    expect(
      (await hcp('restore', 'c1', '--before', '2026-11-21T06:00:00Z', '--from', 'default/gone', '-y').ended).code,
    ).toBe(0);
    const { restore } = (await get()).spec['etcd'] as { restore: Record<string, unknown> };
    expect(restore).toMatchObject({ backup: '2026-11-21T05-00-00.000Z-105', from: { namespace, cluster: 'gone' } });
    expect(restore['request']).not.toBe(first);
    expect((await hcp('restore', 'c1', '--latest', '-y').ended).code).toBe(0);
    expect(((await get()).spec['etcd'] as { restore: object }).restore).not.toHaveProperty('from');
  });

  it('refuses a missing backup, and lists the existing ones', async () => {
    const { code, err } = await hcp('restore', 'c1', '--backup', '2026-11-21T07-00-00.000Z-108').ended;
    expect(code).toBe(1);
    expect(err).toContain(
      'there is no backup 2026-11-21T07-00-00.000Z-108 of c1: choose one of the 1 existing ones, from',
    );
  });
});
