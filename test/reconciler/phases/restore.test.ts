import type { SecretObject } from '../../../imports/kubernetes.ts';
import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { PersistentVolumeClaim, Secret } from '../../../constructs/api/resources.ts';
import { objectLabels } from '../../../constructs/cluster/labels.ts';
import { etcdVolumeClaim } from '../../../constructs/cluster/names.ts';
import type { Work, WorkState } from '../../../reconciler/engine/tasks/background-work.ts';
import { identity, newKey } from '../../../reconciler/encryption-at-rest/configuration.ts';
import { readEncryptionKeys } from '../../../reconciler/encryption-at-rest/secret.ts';
import { encryptionAtRest } from '../../../reconciler/phases/encryption-at-rest.ts';
import { restore as phase } from '../../../reconciler/phases/restore.ts';
import type { PreparedBackup } from '../../../reconciler/backup/restore/prepared-backup.ts';
import { restoredAnnotations } from '../../../reconciler/backup/restore/observe-restore.ts';
import { requestOf } from '../../../reconciler/backup/restore/request.ts';
import { Killed, MemoryObjects } from '../../support/memory-objects.ts';
import { now, scopeOf } from '../../support/scope.ts';

const restore = { latest: true, from: { namespace: 'old', cluster: 'c0', identity: false } } as const;
const etcd = { replicas: 3, restore, backup: { schedule: '@daily', secret: { name: 'bucket' } } };
const inputsKey =
  requestOf({ restore }, { name: 'c1', namespace: 'team' }, { isLost: false, begun: undefined })?.id ?? '';
const key = newKey(new Date(now.getTime() + 1), []);

const snapshot = { revision: 4711, sha256: '0'.repeat(64), sizeBytes: 1 };
const unread = () => {
  throw new Error('the backup is read');
};

/** The backup has been chosen and checked. */
function prepared(encryptionKeys: PreparedBackup['encryptionKeys']): Work {
  const backup = '2026-11-21T09-15-31.123Z-4711';
  const state: WorkState<PreparedBackup> = {
    kind: 'done',
    inputsKey,
    at: now,
    result: { backup, snapshot, read: unread, encryptionKeys },
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

it('a restore does not start, and changes nothing, if the operator does not know its image', async () => {
  const management = new MemoryObjects();
  await encryptionAtRest.run(scopeOf(management));
  const before = management.writes.length;
  const scope = scopeOf(management, { spec: { etcd }, work: prepared([key]), facts: { operatorImage: undefined } });
  await expect(phase.run(scope)).rejects.toThrow('OPERATOR_IMAGE');
  expect(management.writes.length).toBe(before);
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

it('a restore of a snapshot without a manifest says what nothing could check, also when it has ended', async () => {
  const name = '2026-08-21T20:15:00+02:00.etcd';
  const unchecked = expect.stringContaining(
    `snapshot ${name} has no manifest: its size, its database and the hash of etcd are correct, but which Cluster it is of, its Kubernetes version`,
  ) as unknown;
  const bare = { ...restore, latest: undefined, backup: name };
  const request = requestOf({ restore: bare }, { name: 'c1', namespace: 'team' }, { isLost: false, begun: undefined });
  expect(request).toMatchObject({ choice: { kind: 'bareSnapshot', name } });
  const id = request?.id ?? '';
  const result: PreparedBackup = { backup: name, snapshot, read: unread, encryptionKeys: [] };
  const state: WorkState = { kind: 'done', inputsKey: id, at: now, result };
  const work: Work = { state: <T>() => state as WorkState<T>, start: <T>() => state as WorkState<T>, cancel: () => {} };
  const spec = { etcd: { ...etcd, restore: bare } };
  expect(await phase.run(scopeOf(new MemoryObjects(), { spec, work }))).toMatchObject({
    kind: 'wait',
    reason: 'StoppingAPIServers',
    message: unchecked,
    report: { etcd: { restore: { backup: name, restoredTo: '4711' } } },
  });
  const record = { request: id, backup: name, startTime: now.toISOString(), completionTime: now.toISOString() };
  const status = { etcd: { restore: record } };
  expect(await phase.run(scopeOf(new MemoryObjects(), { spec, work, status }))).toMatchObject({
    kind: 'done',
    message: unchecked,
  });
});

it.each([
  ['that of the spec', 'v1.36.3', 'StartingMembers'],
  ['still the later one, with which API servers would be rendered', 'v1.37.1', 'RestoringMembers'],
])('nothing starts with restored data unless the version is the earlier one: it is %s', async (_, version, reason) => {
  const management = new MemoryObjects();
  const { apiVersion, kind } = PersistentVolumeClaim;
  const labels = objectLabels('c1', 'etcd');
  for (let ordinal = 0; ordinal < etcd.replicas; ordinal++) {
    const annotations = { [restoredAnnotations.restore]: inputsKey };
    management.put({ apiVersion, kind, metadata: { name: etcdVolumeClaim('c1', ordinal), labels, annotations } });
  }
  const record = { request: inputsKey, startTime: now.toISOString() };
  const scope = scopeOf(management, { spec: { etcd }, status: { etcd: { restore: record } }, work: prepared([]) });
  const cluster = { ...scope.cluster, spec: { ...scope.cluster.spec, version } };
  expect(await phase.run({ ...scope, cluster })).toMatchObject({ reason });
});
