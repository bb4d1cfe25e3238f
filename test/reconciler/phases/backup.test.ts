import { describe, expect, it } from 'vitest';
import type { Condition, HostedControlPlaneStatus } from '../../../constructs/api/status.ts';
import { Deployment, Pod, StatefulSet } from '../../../constructs/api/resources.ts';
import { objectLabels, selectorLabels } from '../../../constructs/cluster/labels.ts';
import type { Work, WorkState } from '../../../reconciler/engine/tasks/background-work.ts';
import { requestCause } from '../../../reconciler/backup/causes.ts';
import type { BackupResult } from '../../../reconciler/backup/take-backup.ts';
import { StoreError } from '../../../reconciler/backup/store/store-error.ts';
import { awaitedBackup } from '../../../reconciler/desired-state/upgrade/backup-before-upgrade.ts';
import { InvalidConfiguration, type Outcome } from '../../../reconciler/engine/outcome.ts';
import { backup } from '../../../reconciler/phases/backup.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { now, type ScopeChanges, scopeOf } from '../../support/scope.ts';

const spec = (changes: object = {}) => ({
  etcd: { replicas: 1, backup: { schedule: '30 2 * * *', secret: { name: 's3' }, ...changes } },
});
const lastNight = { lastBackup: '2026-11-21T02-30-00.000Z-4711', lastAttemptTime: '2026-11-21T02:30:09.000Z' };
const used: HostedControlPlaneStatus = { initialization: { controlPlaneInitialized: true } };
const resting: HostedControlPlaneStatus = { ...used, etcd: { backup: lastNight } };

function management(): MemoryObjects {
  const created = new MemoryObjects();
  created.put({
    apiVersion: Pod.apiVersion,
    kind: Pod.kind,
    metadata: { name: 'c1-etcd-0', labels: selectorLabels('c1', 'etcd') },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  });
  return created;
}

/** Work in this state that records whether it was started, beside a check of the store. */
function workThatIs(state: WorkState, check: WorkState) {
  const begun: string[] = [];
  const checks: string[] = [];
  const of = (name: string) =>
    name === 'backup' ? { known: state, started: begun } : { known: check, started: checks };
  const work: Work = {
    state: <T>(name: string) => of(name).known as WorkState<T>,
    start: <T>(name: string, inputsKey: string) => {
      of(name).started.push(inputsKey);
      return of(name).known as WorkState<T>;
    },
    cancel: (name) => of(name).started.push('cancelled'),
  };
  return { work, begun, checks };
}

async function run(
  changes: ScopeChanges,
  state: WorkState = { kind: 'idle' },
  in_ = management(),
  check: WorkState = { kind: 'idle' },
) {
  const { work, begun, checks } = workThatIs(state, check);
  const outcome: Outcome = await backup.run(
    scopeOf(in_, { spec: spec(), ...changes, status: { ...used, ...changes.status }, work }),
  );
  return { outcome, begun, checks };
}

const failedWith = async (error: unknown): Promise<WorkState> => {
  const { begun } = await run({});
  return { kind: 'failed', inputsKey: begun[0] ?? '', at: now, error, failures: 1 };
};

describe('backups', () => {
  it('are not taken if the spec requests none, and a running one is cancelled', async () => {
    const { outcome, begun } = await run({ spec: { etcd: { replicas: 1 } } });
    expect(outcome).toMatchObject({ kind: 'done', report: undefined });
    expect(begun).toEqual(['cancelled']);
  });

  it('wait until they are due, with both times in the status', async () => {
    const { outcome, begun } = await run({ status: resting });
    expect(begun).toEqual([]);
    expect(outcome).toMatchObject({
      kind: 'done',
      requeueAt: new Date('2026-11-22T02:30:00Z'),
      report: {
        etcdLastBackupTime: '2026-11-21T02:30:00.000Z',
        etcdNextBackupTime: '2026-11-22T02:30:00.000Z',
        etcd: { backup: lastNight },
      },
    });
  });

  it('report that they cannot rebuild the cluster elsewhere, unless they are encrypted', async () => {
    expect((await run({ status: resting })).outcome).toMatchObject({
      message: expect.stringContaining('set etcd.backup.encryption'),
    });
    const encrypted = await run({ status: resting, spec: spec({ encryption: { secretName: 'keys' } }) });
    expect(encrypted.outcome).toMatchObject({ message: '' });
  });

  it('start only when the cluster has content', async () => {
    const { outcome, begun } = await run({ status: { initialization: {} } });
    expect(begun).toEqual([]);
    expect(outcome).toMatchObject({ kind: 'done', requeueAt: new Date('2026-11-21T12:00:15Z') });
  });

  it('start if none is known, and report their progress', async () => {
    const { outcome, begun } = await run({});
    expect(begun).toHaveLength(1);
    expect(outcome).toMatchObject({ kind: 'done', message: 'a backup has started' });
    const running = { kind: 'running', inputsKey: 'x', since: now, progress: '48 of about 120 MiB, 3 s' } as const;
    expect((await run({}, running)).outcome).toMatchObject({ kind: 'done', message: '48 of about 120 MiB, 3 s' });
  });

  it('are reported as late when one has been due for a period and still waits for its turn', async () => {
    const since = new Date(now.getTime() - 2 * 3_600_000);
    const waiting = { kind: 'running', inputsKey: 'x', since, progress: 'waiting for its turn' } as const;
    const twoNightsAgo = { lastBackup: '2026-11-19T02-30-00.000Z-4711', lastAttemptTime: '2026-11-19T02:30:09.000Z' };
    const lastNightMissed = {
      lastBackup: '2026-11-20T02-30-00.000Z-4711',
      lastAttemptTime: '2026-11-20T02:30:09.000Z',
    };
    const late = await run({ status: { etcd: { backup: twoNightsAgo } } }, waiting);
    expect(late.outcome).toMatchObject({
      kind: 'degraded',
      reason: 'BackupOverdue',
      message: expect.stringContaining('waits for its turn among the tasks of other namespaces') as unknown,
    });
    const soon = await run({ status: { etcd: { backup: lastNightMissed } } }, waiting);
    expect(soon.outcome).toMatchObject({ kind: 'done', requeueAt: new Date('2026-11-22T02:30:00Z') });
  });

  it('stay late in the condition while a new process begins the attempt again', async () => {
    const overdue: Condition = {
      type: 'EtcdBackupReady',
      status: 'False',
      reason: 'BackupOverdue',
      message: 'a backup has been due',
      lastTransitionTime: '2026-11-21T11:00:00Z',
    };
    const begun = { kind: 'running', inputsKey: 'x', since: now, progress: 'started' } as const;
    for (const state of [{ kind: 'idle' } as const, begun]) {
      const { outcome } = await run({ status: { conditions: [overdue] } }, state);
      expect(outcome).toMatchObject({ kind: 'degraded', reason: 'BackupOverdue', message: 'a backup has been due' });
    }
  });

  it('wait for an etcd member', async () => {
    expect((await run({}, { kind: 'idle' }, new MemoryObjects())).outcome).toMatchObject({
      kind: 'wait',
      reason: 'WaitingForMembers',
    });
  });

  it('are not started during a restore', async () => {
    const restore = { request: 'r', startTime: '2026-11-21T11:00:00Z' };
    expect((await run({ status: { etcd: { restore } } })).begun).toEqual([]);
    const over = { ...restore, completionTime: '2026-11-21T11:05:00Z' };
    expect((await run({ status: { etcd: { restore: over } } })).begun).toHaveLength(1);
  });

  it.each<[string, unknown, string, string]>([
    [
      'the store',
      new StoreError('Unreachable', 'list team/c1: the store cannot be reached'),
      'StoreUnavailable',
      'the store cannot be reached; the operator tries again at least once an hour',
    ],
    [
      'etcd',
      new Error('no etcd member can provide a snapshot'),
      'BackupFailed',
      'no etcd member can provide a snapshot',
    ],
    [
      'a Secret',
      new InvalidConfiguration('BackupSecretInvalid', 'Secret team/s3: missing'),
      'BackupSecretInvalid',
      'Secret team/s3: missing; the operator tries again at least once an hour',
    ],
  ])('that fail because of %s report the reason and the time of the retry', async (_, error, reason, message) => {
    const { outcome, begun } = await run({}, await failedWith(error));
    expect(begun).toEqual([]);
    expect(outcome).toMatchObject({
      kind: 'degraded',
      reason,
      message: expect.stringContaining(message),
      requeueAt: new Date('2026-11-21T12:01:00Z'),
      report: { etcd: { backup: { lastAttemptTime: now.toISOString() } } },
    });
  });

  it('that have failed report the failure until one has succeeded', async () => {
    const fault: Condition = {
      type: 'EtcdBackupReady',
      status: 'False',
      reason: 'StoreUnavailable',
      message: 'the store is full',
      lastTransitionTime: '2026-11-21T11:00:00Z',
    };
    const { outcome, begun } = await run({ status: { conditions: [fault] } });
    expect(begun).toHaveLength(1);
    expect(outcome).toMatchObject({ kind: 'degraded', reason: 'StoreUnavailable', message: 'the store is full' });
  });

  it('that succeeded although old ones could not be deleted report that', async () => {
    const result: BackupResult = {
      newest: '2026-11-21T12-00-00.000Z-4712',
      sizeBytes: 1,
      satisfied: [requestCause('x')],
      retentionFault: 'delete a/b: the store knows the credentials but does not allow this',
    };
    const { outcome } = await run({}, { kind: 'done', inputsKey: 'x', at: now, result });
    expect(outcome).toMatchObject({
      kind: 'degraded',
      reason: 'StoreUnavailable',
      message: expect.stringContaining('the operator cannot delete old backups: delete a/b'),
      report: { etcd: { backup: { lastBackup: '2026-11-21T12-00-00.000Z-4712' } } },
    });
  });

  describe('beside those of another control plane', () => {
    const result: BackupResult = {
      newest: lastNight.lastBackup,
      sizeBytes: 1,
      satisfied: [],
      retentionFault: undefined,
      foreignWriter: { name: '2026-11-21T04-00-00.000Z-9', owner: 'other' },
    };
    const found = (changes: Partial<BackupResult> = {}) =>
      run({ status: resting }, { kind: 'done', inputsKey: 'x', at: now, result: { ...result, ...changes } });
    const before: Condition = {
      type: 'EtcdBackupReady',
      status: 'False',
      reason: 'BackupFolderShared',
      message: 'another control plane writes here',
      lastTransitionTime: '2026-11-21T11:00:00Z',
    };

    it.each([
      ['other', 'of the HostedControlPlane with uid other'],
      [undefined, 'of a control plane of an earlier release'],
    ])('say whose the others are: %s', async (owner, words) => {
      const { outcome } = await found({ foreignWriter: { name: '2026-11-21T04-00-00.000Z-9', owner } });
      expect(outcome).toMatchObject({
        kind: 'degraded',
        reason: 'BackupFolderShared',
        message: expect.stringContaining(`2026-11-21T04-00-00.000Z-9 is ${words}; this one counts`) as unknown,
        requeueAt: new Date('2026-11-22T02:30:00Z'),
      });
    });

    it('say so until a backup finds none, also in a new process and while a backup is taken', async () => {
      const status = { ...resting, conditions: [before] };
      const told = { kind: 'degraded', reason: before.reason, message: before.message };
      expect((await run({ status })).outcome).toMatchObject(told);
      const running = { kind: 'running', inputsKey: 'x', since: now, progress: '1 of about 2 MiB' } as const;
      expect((await run({ status }, running)).outcome).toMatchObject(told);
      const alone: WorkState<BackupResult> = {
        kind: 'done',
        inputsKey: 'x',
        at: now,
        result: { ...result, foreignWriter: undefined },
      };
      expect((await run({ status }, alone)).outcome).toMatchObject({ kind: 'done' });
    });
  });

  describe('that are not due', () => {
    const refused: Condition = {
      type: 'EtcdBackupReady',
      status: 'False',
      reason: 'BackupSecretInvalid',
      message: 'Secret storage/s3 does not exist',
      lastTransitionTime: '2026-11-21T11:00:00Z',
    };
    const unused: HostedControlPlaneStatus = { initialization: {} };
    const checkOf = async (status: HostedControlPlaneStatus, of: object = {}) =>
      (await run({ status, spec: spec(of) })).checks[0] ?? '';
    const ended = async (status: HostedControlPlaneStatus, error?: unknown, agoMs = 0): Promise<WorkState> => {
      const common = { inputsKey: await checkOf(status), at: new Date(now.getTime() - agoMs) };
      return error === undefined
        ? { kind: 'done', ...common, result: undefined }
        : { kind: 'failed', ...common, error, failures: 1 };
    };
    const checked = async (status: HostedControlPlaneStatus, error?: unknown, agoMs = 0) =>
      run({ status }, { kind: 'idle' }, management(), await ended(status, error, agoMs));

    it.each([
      ['before the first one', unused],
      ['between two', resting],
    ])('report a store that refuses, and look again: %s', async (_, status) => {
      const error = new InvalidConfiguration('BackupSecretInvalid', 'Secret team/s3: missing');
      const { outcome, checks } = await checked(status, error);
      expect(checks).toEqual([]);
      expect(outcome).toMatchObject({
        kind: 'degraded',
        reason: 'BackupSecretInvalid',
        message: 'Secret team/s3: missing; the operator checks again at least once an hour',
      });
      expect((await checked(status, error, 60_000)).checks).toHaveLength(1);
    });

    it('look again at once when the spec names another Secret', async () => {
      expect(await checkOf(resting)).not.toBe(await checkOf(resting, { secret: { name: 'other' } }));
      expect(await checkOf(resting)).toBe(await checkOf(resting, { schedule: '29 2 * * *' }));
    });

    it('look again an hour after the store was fine', async () => {
      const soon = await checked(resting);
      expect(soon.outcome).toMatchObject({ kind: 'done', requeueAt: new Date('2026-11-21T13:00:00Z') });
      expect(soon.checks).toEqual([]);
      expect((await checked(resting, undefined, 3_600_000)).checks).toHaveLength(1);
    });

    it('report a refusal until a check passes, also in a new process', async () => {
      const status = { ...resting, conditions: [refused] };
      const told = { kind: 'degraded', reason: 'BackupSecretInvalid', message: refused.message };
      expect((await run({ status })).outcome).toMatchObject(told);
      expect((await checked(status)).outcome).toMatchObject({ kind: 'done' });
    });

    it('are no reason to check the store while one is taken, or is due again', async () => {
      expect((await run({})).checks).toEqual([]);
      const running = { kind: 'running', inputsKey: 'x', since: now, progress: '1 of about 2 MiB' } as const;
      expect((await run({}, running)).checks).toEqual([]);
    });
  });

  it('with a schedule that never occurs are a configuration error', async () => {
    await expect(run({ spec: spec({ schedule: '0 0 31 2 *' }) })).rejects.toMatchObject({
      name: 'InvalidConfiguration',
      message: expect.stringContaining('never occurs'),
    });
  });
});

/** A control plane with these versions. */
function running(kubernetes: string, etcd: string): MemoryObjects {
  const created = management();
  const labels = objectLabels('c1', 'api-server');
  const template = { metadata: { annotations: { 'controlplane.cluster.x-k8s.io/version': kubernetes } } };
  const image = `registry.k8s.io/etcd:${etcd}-0`;
  created.put({ ...named(Deployment, 'c1-api-server', labels), spec: { template } });
  created.put({
    ...named(StatefulSet, 'c1-etcd', labels),
    spec: { template: { spec: { containers: [{ name: 'etcd', image }] } } },
  });
  return created;
}

const named = ({ apiVersion, kind }: typeof Pod, name: string, labels: Readonly<Record<string, string>>) => ({
  apiVersion,
  kind,
  metadata: { name, labels },
});

describe('before a minor version changes', () => {
  const awaited = (in_: MemoryObjects, what: 'Kubernetes' | 'etcd', changes: ScopeChanges = {}) =>
    awaitedBackup(what, scopeOf(in_, { spec: { ...spec(), version: 'v1.36.3' }, status: resting, ...changes }));

  it.each<[string, MemoryObjects, 'Kubernetes' | 'etcd', string]>([
    ['of Kubernetes', running('v1.35.1', '3.6.8'), 'Kubernetes', 'change of Kubernetes 1.35 to 1.36 waits'],
    ['of etcd', running('v1.36.3', '3.5.24'), 'etcd', 'change of etcd 3.5 to 3.6 waits'],
    ['not for a patch of Kubernetes', running('v1.36.0', '3.6.8'), 'Kubernetes', 'nothing'],
    ['not for a patch of etcd', running('v1.36.0', '3.6.5'), 'etcd', 'nothing'],
    ['not for the first version there is', new MemoryObjects(), 'Kubernetes', 'nothing'],
  ])('a backup is awaited, %s', (_, in_, what, expected) => {
    expect(awaited(in_, what) ?? 'nothing').toContain(expected);
  });

  it('a backup is taken, and then the change continues', async () => {
    const in_ = running('v1.35.1', '3.6.8');
    expect((await run({ status: resting }, { kind: 'idle' }, in_)).begun).toHaveLength(1);
    const status = { etcd: { backup: { ...lastNight, takenFor: ['Kubernetes 1.35 to 1.36'] } } };
    expect((await run({ status }, { kind: 'idle' }, in_)).begun).toEqual([]);
    expect(awaited(in_, 'Kubernetes', { status })).toBeUndefined();
  });

  it('the reconcile after a completed backup is requeued at once, when its status has the backup', async () => {
    const result: BackupResult = {
      newest: '2026-11-21T12-00-00.000Z-4712',
      sizeBytes: 1,
      satisfied: ['change:Kubernetes 1.35 to 1.36'],
      retentionFault: undefined,
    };
    const work = { kind: 'done', inputsKey: 'x', at: now, result } as const;
    expect((await run({ status: resting }, work, running('v1.35.1', '3.6.8'))).outcome).toMatchObject({
      requeueAt: now,
    });
  });

  it('no backup is awaited if it is disabled', () => {
    const in_ = running('v1.35.1', '3.6.8');
    expect(awaited(in_, 'Kubernetes', { spec: spec({ beforeUpgrade: false }) })).toBeUndefined();
    expect(awaited(in_, 'Kubernetes', { spec: { etcd: { replicas: 1 } } })).toBeUndefined();
  });

  it('an unreachable store is reported, with the way to continue without it', () => {
    const fault: Condition = {
      type: 'EtcdBackupReady',
      status: 'False',
      reason: 'StoreUnavailable',
      message: 'the store cannot be reached',
      lastTransitionTime: '2026-11-21T11:00:00Z',
    };
    const message = awaited(running('v1.35.1', '3.6.8'), 'Kubernetes', { status: { conditions: [fault] } });
    expect(message).toContain('which fails: the store cannot be reached; set etcd.backup.beforeUpgrade: false');
  });
});
