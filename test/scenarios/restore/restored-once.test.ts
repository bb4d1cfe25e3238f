import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Restore } from '../../../constructs/api/restore-spec.ts';
import { BackedUpCluster } from '../../support/loop/backed-up-cluster.ts';
import { ObjectStoreServer } from '../../support/object-store-server.ts';

type Request = { readonly [field in keyof Restore]?: Restore[field] | null };

/** No API server has to load keys before all is settled. */
const unencrypted = { encryptionAtRest: { provider: 'None' } };

/** What Git has, and what a person asks for by kubectl. */
const latest: Request = { latest: true };
let first: Request;

let bucket: ObjectStoreServer;
let site: BackedUpCluster;
beforeAll(async () => {
  bucket = await ObjectStoreServer.start();
  site = await BackedUpCluster.start(bucket, 'a1', 0, unencrypted);
  first = { backup: await site.backUp(0), latest: null };
}, 60_000);
afterAll(async () => {
  await site.operator.stop();
  bucket.stop();
});

const restores = () => site.status.etcd?.restore;

/** Asks for a restore, a minute later, and waits until it is complete. @returns when it began */
async function restored(request: Request): Promise<string | undefined> {
  await site.cluster.clock.advance(60_000);
  const before = restores()?.startTime;
  await apply(request);
  return untilRestored(before);
}

async function untilRestored(before: string | undefined): Promise<string | undefined> {
  await site.operator.reconcileUntil('the restore to begin', () => restores()?.startTime !== before);
  await site.operator.untilSettled();
  expect(restores()).toMatchObject({ step: 'Completed' });
  return restores()?.startTime;
}

async function apply(restore: Request | null): Promise<void> {
  await site.cluster.change({ etcd: { restore } });
}

/** When the newest restore began. @throws if another one is about to begin, which starts with a check of the backup */
async function afterReconcile(): Promise<string | undefined> {
  await site.operator.untilObserved();
  await site.operator.reconcile();
  const condition = site.cluster.conditions.find(({ type }) => type === 'EtcdRestoreReady');
  expect(condition).toMatchObject({
    status: 'True',
    observedGeneration: site.cluster.hostedControlPlane.metadata.generation,
  });
  return restores()?.startTime;
}

describe('a restore', () => {
  it('runs once, even if the manifest is applied again', async () => {
    const began = await restored(latest);
    await apply(latest);
    expect(await afterReconcile()).toBe(began);
  });

  it('does not run again when it was removed from the spec and comes back', async () => {
    const began = restores()?.startTime;
    await apply(null);
    expect(await afterReconcile()).toBe(began);
    await apply(latest);
    expect(await afterReconcile()).toBe(began);
  });

  it('does not run again when a person has asked for another one since, and an old manifest is applied', async () => {
    const began = await restored(first);
    await apply({ latest: true, backup: null });
    expect(await afterReconcile()).toBe(began);
  });

  it('runs again for a new text in its request', async () => {
    const before = restores()?.startTime;
    expect(await restored({ ...latest, request: 'again' })).not.toBe(before);
  });

  it('runs for a new object, whose manifest asks for it', async () => {
    await site.createAgain({ restore: latest, volumeRetention: 'Retain' }, unencrypted);
    expect(await untilRestored(undefined)).toBeDefined();
    expect(site.cluster.conditions.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'True' });
  });

  it('does not run for a new object on retained volumes that it has replaced before', async () => {
    await site.createAgain({ restore: latest, volumeRetention: 'Retain' }, unencrypted);
    await site.operator.rounds(12);
    expect(await afterReconcile()).toBeUndefined();
    expect(site.cluster.conditions.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'True' });
  });
});
