import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConfigMap, Event, Pod, ResourceQuota } from '../../../constructs/api/resources.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { BackupWorkbench, unverifiedBackup } from '../../support/backup-workbench.ts';
import { recordFault } from '../../support/fault-table.ts';
import { Loan } from '../../support/lent/loan.ts';
import { until } from '../../support/until.ts';
import { flipped, longMs, untilRefused, untilRestored } from './recoveries.ts';

const fieldManager = 'test';
const loan = new Loan('plain', { restartsPods: true });
let bench: BackupWorkbench;
let hosted: KubeClient;
let id: string;

beforeAll(async () => {
  bench = await BackupWorkbench.borrow(loan);
  await bench.patch('c1', { spec: { etcd: { backup: unverifiedBackup } } });
  hosted = await bench.hosted('c1');
  await write('before');
  id = await bench.takeBackup('c1', 'first', longMs);
  await write('after');
});
afterAll(async () => {
  for (const name of written) await hosted.delete(ConfigMap, { namespace: 'default', name });
  await hosted.connection.close();
  await bench.close();
});

type EventObject = KubeObject & { readonly reason?: string };

const stored = (name: string) => ({
  apiVersion: ConfigMap.apiVersion,
  kind: ConfigMap.kind,
  metadata: { namespace: 'default', name },
});

const written = new Set<string>();

function write(name: string): Promise<KubeObject> {
  written.add(name);
  return until(`${name} to be written`, () =>
    hosted.apply(stored(name), { fieldManager, force: true }).catch(() => undefined),
  );
}

/** The events about changes of others that the operator has reverted, each with its version: there are those of files before. */
async function reverted(): Promise<string[]> {
  const { items } = await bench.client.list<EventObject>(Event, { namespace: bench.namespace });
  const told = items.filter(({ reason }) => reason === 'ForeignChangeReverted');
  return told.map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`).toSorted();
}

test('a restored control plane has the data of the backup and nothing later, at a revision that no client has seen', async () => {
  const { metadata } = await hosted.get(ConfigMap, { namespace: 'default', name: 'after' });
  const revertedBefore = await reverted();
  const began = performance.now();
  await bench.patch('c1', { spec: { etcd: { restore: { latest: true } } } });
  const stopped = bench.untilCondition('c1', 'EtcdRestoreReady', { reason: 'RestoringMembers' }, longMs);
  const restored = await untilRestored(bench, 'c1');
  await stopped;
  expect(restored).toMatchObject({ backup: id, step: 'Completed', restoredTo: id.split('-').at(-1) });
  const kept = await until('the API server to answer', () =>
    hosted.get(ConfigMap, { namespace: 'default', name: 'before' }).catch(() => undefined),
  );
  const recoverySeconds = (performance.now() - began) / 1000;
  expect(await hosted.find(ConfigMap, { namespace: 'default', name: 'after' })).toBeUndefined();
  const later = await write('later');
  expect(Number(later.metadata.resourceVersion)).toBeGreaterThan(Number(metadata.resourceVersion) + 1_000_000_000);
  expect(kept.metadata.name).toBe('before');
  await bench.untilReady('c1');
  expect(
    await bench.client.list(Pod, {
      namespace: bench.namespace,
      labelSelector: 'app.kubernetes.io/component=etcd-restore',
    }),
  ).toMatchObject({ items: [] });
  expect(await reverted()).toEqual(revertedBefore);
  await recordFault({
    fault: 'restore of a backup over a running control plane',
    observed: 'what was written before the backup is there, what was written after it is gone, the revision went up',
    recoverySeconds,
    dataLost: 'none that the backup holds',
  });
});

test('a restore whose pods a ResourceQuota refuses stops no pod, and says what to change', async () => {
  const name = { namespace: bench.namespace, name: 'limited' };
  const uids = async () => (await bench.pods('c1', 'etcd')).map(({ metadata }) => metadata.uid);
  const before = await uids();
  await bench.client.create(
    {
      apiVersion: ResourceQuota.apiVersion,
      kind: ResourceQuota.kind,
      metadata: name,
      spec: { hard: { 'limits.memory': '64Gi' } },
    },
    { fieldManager },
  );
  await bench.patch('c1', { spec: { etcd: { restore: { latest: true, request: 'limited' } } } });
  const { message } = await bench.untilCondition('c1', 'EtcdRestoreReady', { reason: 'RestoreRefused' }, longMs);
  expect(message).toContain('no pod was stopped');
  expect(message).toMatch(/limited.*limits\.memory/);
  await bench.untilCondition('c1', 'Available', { status: 'True' });
  expect(await uids()).toEqual(before);
  await write('meanwhile');
  await bench.patch('c1', { spec: { etcd: { restore: null } } });
  await bench.untilCondition('c1', 'EtcdRestoreReady', { status: 'True' });
  await bench.client.delete(ResourceQuota, name);
});

test('a control plane stays as it was when the backup is damaged', async () => {
  const file = join(bench.s3.directory, bench.s3.settings.bucket, bench.namespace, 'c1', id, 'snapshot.db');
  await writeFile(file, flipped(await readFile(file)));
  await bench.patch('c1', { spec: { etcd: { restore: { backup: id, request: 'damaged' } } } });
  const message = await untilRefused(bench, 'c1', 'BackupUnusable');
  expect(message).toMatch(/is damaged, because its size or hash differs from its manifest/);
  await write('beside');
  expect(await hosted.find(ConfigMap, { namespace: 'default', name: 'later' })).toBeDefined();
  await recordFault({
    fault: 'restore of a backup with a flipped bit',
    observed: 'refused with reason BackupUnusable before anything is touched; the control plane goes on',
    recoverySeconds: undefined,
    dataLost: 'none',
  });
});
