import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { Secret } from '../../../constructs/api/resources.ts';
import type { Work, WorkState } from '../../../reconciler/tasks/background-work.ts';
import type { Manifest } from '../../../reconciler/backup/manifest.ts';
import { identity, newKey } from '../../../reconciler/encryption-at-rest/configuration.ts';
import { readEncryptionKeys } from '../../../reconciler/encryption-at-rest/secret.ts';
import { encryptionAtRest } from '../../../reconciler/phases/encryption-at-rest.ts';
import { restore as phase } from '../../../reconciler/phases/restore.ts';
import type { SecretObject } from '../../../reconciler/pki/secret.ts';
import type { PreparedBackup } from '../../../reconciler/restore/prepare.ts';
import { requestOf } from '../../../reconciler/restore/request.ts';
import { Killed, MemoryObjects } from '../../support/memory-objects.ts';
import { now, scopeOf } from '../../support/scope.ts';

const restore = { latest: true, from: { namespace: 'old', cluster: 'c0', identity: false } } as const;
const etcd = { replicas: 3, restore, backup: { schedule: '@daily', secret: { name: 'bucket' } } };
const inputsKey =
  requestOf({ restore }, { name: 'c1', namespace: 'team' }, { isLost: false, begun: undefined })?.id ?? '';
const key = newKey(new Date(now.getTime() + 1), []);

const manifest: Manifest = {
  formatVersion: 1,
  namespace: 'old',
  cluster: 'c0',
  clusterId: '1',
  etcdVersion: '3.6.8',
  kubernetesVersion: 'v1.36.3',
  keys: { total: 0, byResource: {} },
  time: now.toISOString(),
  revision: 4711,
  sha256: '0'.repeat(64),
  sizeBytes: 1,
  objects: { snapshot: 'snapshot.db' },
};

/** The backup has been chosen and checked. */
function prepared(encryptionKeys: PreparedBackup['encryptionKeys']): Work {
  const backup = '2026-11-21T09-15-31.123Z-4711';
  const state: WorkState<PreparedBackup> = {
    kind: 'done',
    inputsKey,
    at: now,
    result: { backup, manifest, encryptionKeys },
  };
  return { state: <T>() => state as WorkState<T>, start: <T>() => state as WorkState<T>, cancel: () => {} };
}

const run = (management: MemoryObjects, keys: PreparedBackup['encryptionKeys'] = [key]) =>
  phase.run(scopeOf(management, { spec: { etcd }, work: prepared(keys) }));

function keysIn(management: MemoryObjects) {
  const secret = management.get<SecretObject>(Secret, 'c1-encryption');
  return secret && readEncryptionKeys(secret);
}

it('a restore starts only when the control plane has the keys of its backup', async () => {
  const management = new MemoryObjects();
  await encryptionAtRest.run(scopeOf(management));
  management.dieAfter(0);
  await expect(run(management)).rejects.toThrow(Killed);
  expect(keysIn(management)?.retired).toEqual([]);

  management.restart();
  const outcome = await run(management);
  expect(outcome).toMatchObject({
    reason: 'StoppingAPIServers',
    report: { etcd: { restore: { request: inputsKey } } },
  });
  expect(keysIn(management)?.retired).toEqual([key]);
  expect(inspect(outcome, { depth: 10, showHidden: true })).not.toContain(key.secret);
});

it('a restore does not start, and changes nothing, if a key has the name of another', async () => {
  const management = new MemoryObjects();
  await encryptionAtRest.run(scopeOf(management));
  const own = keysIn(management)?.providers[0] ?? identity;
  if (own === identity) throw new Error('there is no key');
  const before = management.writes.length;
  const outcome = await run(management, [{ ...key, name: own.name }]);
  expect(outcome).toMatchObject({ kind: 'wait', reason: 'BackupUnusable', afterMs: 30_000, report: undefined });
  expect(inspect(outcome, { depth: 10, showHidden: true })).not.toContain(key.secret);
  expect(management.writes.length).toBe(before);
});
