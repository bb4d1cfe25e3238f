import { describe, expect, it } from 'vitest';
import { Secret } from '../../../constructs/api/resources.ts';
import type { Work, WorkState } from '../../../reconciler/engine/tasks/background-work.ts';
import { RecoveryBundleNotFound, type Identity } from '../../../reconciler/backup/find-recovery-bundle.ts';
import { StoreError } from '../../../reconciler/backup/store/store-error.ts';
import { caCertificates } from '../../../reconciler/phases/ca-certificates.ts';
import { createCA, createServiceAccountKey, type KeyPair, validFor } from '../../../reconciler/pki/issue.ts';
import { Killed, MemoryObjects } from '../../support/memory-objects.ts';
import { now, scopeOf } from '../../support/scope.ts';

const restore = { latest: true, from: { namespace: 'old', cluster: 'c0', identity: true } } as const;
const backup = { schedule: '@daily', secret: { name: 'bucket' } };
const etcd = { replicas: 3, restore, backup };
const inputsKey = JSON.stringify(restore);

const pair = ({ certificate, key }: KeyPair) =>
  Object.fromEntries(
    Object.entries({ 'tls.crt': certificate, 'tls.key': key }).map(([field, text]) => [
      field,
      Buffer.from(text).toString('base64'),
    ]),
  );

async function identity(): Promise<Identity> {
  const ca = async (name: string) => ({
    name,
    type: 'cluster.x-k8s.io/secret',
    data: pair(await createCA({ commonName: name }, validFor(3_600_000, now))),
  });
  const secrets = await Promise.all(['c1-ca', 'c1-etcd', 'c1-proxy'].map(ca));
  return {
    backup: 'b',
    secrets: [
      ...secrets,
      { name: 'c1-sa', data: pair(createServiceAccountKey()) },
      { name: 'c1-encryption', annotations: { 'controlplane.cluster.x-k8s.io/step': '2' }, data: { keys: 'a2V5' } },
    ],
  };
}

/** Slow work that stays in this state, and records what is started. */
function workIn(state: WorkState<Identity>): Work & { readonly begun: string[] } {
  const begun: string[] = [];
  return {
    begun,
    state: <T>() => state as WorkState<T>,
    start: <T>(name: string) => {
      begun.push(name);
      return state as WorkState<T>;
    },
    cancel: () => {},
  };
}

const run = (management: MemoryObjects, work: Work, changes: object = {}) =>
  caCertificates.run(scopeOf(management, { spec: { etcd }, work, ...changes }));
const done = (result: Identity): WorkState<Identity> => ({ kind: 'done', inputsKey, at: now, result });

describe('an identity to take over', () => {
  it('is read in the background, and no CA is created meanwhile', async () => {
    const management = new MemoryObjects();
    const work = workIn({ kind: 'idle' });
    expect(await run(management, work)).toMatchObject({ kind: 'wait', reason: 'TakingOverIdentity' });
    expect(work.begun).toEqual(['identity']);
    expect(management.writes).toEqual([]);
  });

  it('is created as it was, the cluster CA last', async () => {
    const management = new MemoryObjects();
    const taken = await identity();
    expect(await run(management, workIn(done(taken)))).toMatchObject({ kind: 'done' });
    expect(management.writes).toEqual(
      ['c1-etcd', 'c1-proxy', 'c1-sa', 'c1-encryption', 'c1-ca'].map((name) => `create Secret ${name}`),
    );
    for (const { name, data, annotations } of taken.secrets) {
      const of = { 'controlplane.cluster.x-k8s.io/identity-of': 'old/c0' };
      expect(management.get(Secret, name)).toMatchObject({
        data,
        metadata: { annotations: { ...annotations, ...of } },
      });
    }
  });

  it('is not read again once it exists', async () => {
    const management = new MemoryObjects();
    await run(management, workIn(done(await identity())));
    const work = workIn({ kind: 'idle' });
    expect(await run(management, work)).toMatchObject({ kind: 'done' });
    expect(work.begun).toEqual([]);
  });

  it('is completed after a process was killed at any write', async () => {
    const taken = await identity();
    for (let writes = 0; writes < taken.secrets.length; writes++) {
      const management = new MemoryObjects();
      management.dieAfter(writes);
      await expect(run(management, workIn(done(taken)))).rejects.toThrow(Killed);
      management.restart();
      expect(await run(management, workIn(done(taken)))).toMatchObject({ kind: 'done' });
      expect(new Set(management.writes).size).toBe(taken.secrets.length);
    }
  });

  it('never replaces another one', async () => {
    const management = new MemoryObjects();
    await caCertificates.run(scopeOf(management));
    const work = workIn(done(await identity()));
    expect(await run(management, work)).toMatchObject({
      reason: 'CACertificateInvalid',
      message: expect.stringContaining('Secret c1-ca already exists') as string,
    });
  });

  it('is ignored after workers may have joined', async () => {
    const management = new MemoryObjects();
    await caCertificates.run(scopeOf(management));
    const status = { initialization: { controlPlaneInitialized: true } };
    expect(await run(management, workIn({ kind: 'idle' }), { status })).toMatchObject({ kind: 'done' });
  });

  it('needs the location of the backups', async () => {
    const outcome = await run(new MemoryObjects(), workIn({ kind: 'idle' }), {
      spec: { etcd: { ...etcd, backup: undefined } },
    });
    expect(outcome).toMatchObject({ reason: 'BackupSecretInvalid' });
  });
});

describe('an identity that cannot be read', () => {
  const failed = (error: unknown, at: Date): WorkState<Identity> => ({
    kind: 'failed',
    inputsKey,
    at,
    error,
    failures: 1,
  });

  it.each([
    ['there is no such backup', new RecoveryBundleNotFound('no such backup'), 'BackupNotFound'],
    ['the store does not answer', new StoreError('Unavailable', 'away'), 'StoreUnavailable'],
    ['the bundle is damaged', new Error('damaged'), 'BackupUnusable'],
  ])('reports it when %s, and is retried later', async (_, error, reason) => {
    const soon = workIn(failed(error, now));
    expect(await run(new MemoryObjects(), soon)).toMatchObject({ reason, afterMs: 30_000 });
    expect(soon.begun).toEqual([]);
    const later = workIn(failed(error, new Date(now.getTime() - 30_000)));
    expect(await run(new MemoryObjects(), later)).toMatchObject({ reason: 'TakingOverIdentity' });
    expect(later.begun).toEqual(['identity']);
  });
});
