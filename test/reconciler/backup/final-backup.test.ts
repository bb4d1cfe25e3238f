import { describe, expect, it } from 'vitest';
import { StatefulSet } from '../../../constructs/api/resources.ts';
import { objectLabels } from '../../../constructs/cluster/labels.ts';
import type { Work, WorkState } from '../../../reconciler/engine/tasks/background-work.ts';
import { deletionCause } from '../../../reconciler/backup/causes.ts';
import { planFinalBackup, finalBackup } from '../../../reconciler/backup/final-backup.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { StoreError } from '../../../reconciler/backup/store/store-error.ts';
import type { BackupResult } from '../../../reconciler/backup/take-backup.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { hostedControlPlaneObject, now, scopeOf, spec } from '../../support/scope.ts';

const cause = deletionCause('uid');
const situation = { inputsKey: 'b', cause, now: now.getTime(), hasMember: true, isGone: false };
const result: BackupResult = { newest: 'x', sizeBytes: 1, satisfied: [cause], retentionFault: undefined };
const failed = (inputsKey: string): WorkState<BackupResult> => ({
  kind: 'failed',
  inputsKey,
  at: now,
  error: new Error('the store cannot be reached'),
  failures: 2,
});

const wanted = { schedule: '@daily', secret: { name: 's3' }, beforeDeletion: true };
const set = (metadata: object = {}) => ({
  apiVersion: StatefulSet.apiVersion,
  kind: StatefulSet.kind,
  metadata: { name: 'c1-etcd', labels: objectLabels('c1', 'etcd'), ...metadata },
});
const idle: Work = { state: () => ({ kind: 'idle' }), start: () => ({ kind: 'idle' }), cancel: () => {} };

describe('the final backup', () => {
  it.each<[string, WorkState<BackupResult>, object | string]>([
    ['is started', { kind: 'idle' }, 'start'],
    ['is started if the last attempt was for other inputs', failed('other'), 'start'],
    [
      'is waited for',
      { kind: 'running', inputsKey: 'b', since: now, progress: '1 of about 2 MiB' },
      { reason: 'WaitingForFinalBackup', message: 'the final backup is in progress: 1 of about 2 MiB' },
    ],
    ['lets the deletion continue', { kind: 'done', inputsKey: 'b', at: now, result }, 'proceed'],
    [
      'is retried after a failure, and the message says how to continue without it',
      failed('b'),
      {
        reason: 'WaitingForFinalBackup',
        message:
          'the final backup failed: the store cannot be reached; set etcd.backup.beforeDeletion: false to continue without it',
        afterMs: 120_000,
      },
    ],
  ])('%s', (_, state, expected) => {
    expect(planFinalBackup(state, situation)).toEqual(expected);
  });

  it.each<[string, WorkState<BackupResult>, object | string]>([
    ['is looked for in the store', { kind: 'idle' }, 'start'],
    ['was taken before', { kind: 'done', inputsKey: 'b', at: now, result }, 'proceed'],
    [
      'is impossible, and the message says how to go on',
      failed('b'),
      expect.objectContaining({
        reason: 'FinalBackupImpossible',
        message: expect.stringContaining('then set etcd.backup.beforeDeletion: false'),
      }),
    ],
    [
      'may have been taken before while the store is away',
      { ...failed('b'), error: new StoreError('Unavailable', 'away') } as WorkState<BackupResult>,
      expect.objectContaining({ reason: 'WaitingForFinalBackup' }),
    ],
  ])('of an etcd that was deleted %s', (_, state, expected) => {
    const decision = planFinalBackup(state, { ...situation, hasMember: false, isGone: true });
    expect(decision).toEqual(expected);
  });

  it('waits for an etcd member', () => {
    expect(planFinalBackup({ kind: 'idle' }, { ...situation, hasMember: false })).toMatchObject({
      message: expect.stringContaining('waits until an etcd member is ready; set etcd.backup.beforeDeletion: false'),
    });
  });

  it.each<[string, unknown, MemoryObjects, boolean]>([
    ['is taken if the spec requests it', wanted, readerWith(set()), true],
    ['is not taken if the spec does not request it', { ...wanted, beforeDeletion: false }, readerWith(set()), false],
    ['is not taken without backups', undefined, readerWith(set()), false],
    ['is not taken if the backup settings are invalid', { schedule: 7 }, readerWith(set()), false],
    ['is not taken if etcd was never created', wanted, new MemoryObjects(), false],
    [
      'is asked for if etcd was deleted before',
      wanted,
      readerWith(set({ deletionTimestamp: '2026-11-21T12:00:00Z' })),
      true,
    ],
  ])('%s', (_, backup, management, isAwaited) => {
    const object = hostedControlPlaneObject({ spec: { ...spec, etcd: { replicas: 3, backup } } });
    expect(isBackupAwaited(object, management)).toBe(isAwaited);
  });
});

describe('the final backup of a control plane that hibernates', () => {
  const awake = {
    type: 'Awake',
    status: 'False',
    reason: 'Hibernated',
    message: '',
    lastTransitionTime: '2026-11-21T11:00:00Z',
  };

  it.each<[string, readonly string[], boolean]>([
    ['is the one before it stopped', ['hibernation uid/3'], false],
    ['waits for etcd, if there is none of all data', [], true],
    ['waits for etcd, if there is one of another time only', ['Kubernetes 1.35 to 1.36'], true],
  ])('%s', (_, takenFor, isAwaited) => {
    const management = readerWith(set());
    const status = { conditions: [awake], etcd: { backup: { takenFor } } };
    const object = hostedControlPlaneObject({ spec: { ...spec, etcd: { replicas: 3, backup: wanted } }, status });
    expect(isBackupAwaited(object, management)).toBe(isAwaited);
  });
});

function isBackupAwaited(object: KubeObject, management: MemoryObjects): boolean {
  const { storeReader, openEtcd, clock } = scopeOf(management);
  const awaited = finalBackup({
    namespace: 'team',
    cluster: 'c1',
    clusterObject: undefined,
    storeReader,
    openEtcd,
    clock,
    object,
    reader: management,
    work: idle,
    now,
    isNamespaceEnding: false,
    onLost: () => {},
  });
  return awaited !== undefined;
}

function readerWith(object: Parameters<MemoryObjects['put']>[0]): MemoryObjects {
  const management = new MemoryObjects();
  management.put(object);
  return management;
}
