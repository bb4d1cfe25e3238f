import { describe, expect, it } from 'vitest';
import { Pod } from '../../../constructs/api/resources.ts';
import type { HostedControlPlaneStatus } from '../../../constructs/api/status.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import type { Work, WorkState } from '../../../reconciler/engine/tasks/background-work.ts';
import { backupId } from '../../../constructs/cluster/backup-names.ts';
import { StoreError } from '../../../reconciler/backup/store/store-error.ts';
import { BackupUnusable } from '../../../reconciler/backup/failure.ts';
import type { VerificationInventory } from '../../../reconciler/backup/verify/inventory.ts';
import { verification } from '../../../reconciler/phases/verification.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { now, scopeOf } from '../../support/scope.ts';

const spec = (verify: object = {}) => ({
  etcd: { replicas: 1, backup: { schedule: '@daily', secret: { name: 's3' }, verify } },
});
const hour = 3_600_000;
const backup = (hoursAgo: number, isVerified = false) => ({
  time: now.getTime() - hoursAgo * hour,
  revision: 100 - hoursAgo,
  isVerified,
});
const id = backupId(backup(1));
const inventory = (...backups: VerificationInventory['backups']): WorkState => ({
  kind: 'done',
  inputsKey: '',
  at: now,
  result: { backups, lastVerified: undefined } satisfies VerificationInventory,
});
const failed = (error: unknown, minutesAgo: number, inputsKey = id): WorkState => ({
  kind: 'failed',
  inputsKey,
  at: new Date(now.getTime() - minutesAgo * 60_000),
  error,
  failures: 1,
});
const running: WorkState = { kind: 'running', inputsKey: id, since: now, progress: '4 of 20 MiB sent' };

type States = Readonly<Record<string, WorkState>>;

async function run(
  states: States,
  {
    management = new MemoryObjects(),
    verify = {},
    status,
  }: { management?: MemoryObjects; verify?: object; status?: HostedControlPlaneStatus } = {},
) {
  const begun: string[] = [];
  const stateOf = <T>(name: string) => (states[name] ?? { kind: 'idle' }) as WorkState<T>;
  const work: Work = {
    state: stateOf,
    start: <T>(name: string, inputsKey: string) => {
      begun.push(name === 'verification' ? `${name} ${inputsKey}` : name);
      return stateOf<T>(name);
    },
    cancel: (name) => begun.push(`cancel ${name}`),
  };
  const outcome = await verification.run(
    scopeOf(management, { spec: spec(verify), work, ...(status ? { status } : {}) }),
  );
  return { outcome, begun, writes: management.writes };
}

/** The pod that a killed process has left. */
function withPod(): MemoryObjects {
  const management = new MemoryObjects();
  const metadata = { name: 'c1-etcd-verify', labels: selectorLabels('c1', 'etcd-verify') };
  management.put({ apiVersion: Pod.apiVersion, kind: Pod.kind, metadata });
  return management;
}

const condition = (reason: string): HostedControlPlaneStatus => ({
  conditions: [
    {
      type: 'EtcdBackupVerified',
      status: 'False',
      reason,
      message: 'x',
      lastTransitionTime: now.toISOString(),
    },
  ],
});

describe('verifications', () => {
  it('do not run if they are disabled, and their leftovers are deleted', async () => {
    const { outcome, begun, writes } = await run({}, { verify: { disabled: true }, management: withPod() });
    expect(outcome).toMatchObject({ kind: 'done' });
    expect(begun).toEqual(['cancel verification-survey', 'cancel verification']);
    expect(writes).toEqual(['delete Pod c1-etcd-verify']);
  });

  it('start with a list of the bucket', async () => {
    const { outcome, begun } = await run({});
    expect(outcome).toMatchObject({ kind: 'done' });
    expect(begun).toEqual(['verification-survey']);
  });

  it('keep the reported state while the bucket is listed', async () => {
    const { outcome } = await run({}, { status: condition('BackupUnusable') });
    expect(outcome).toMatchObject({ kind: 'degraded', reason: 'BackupUnusable', message: 'x' });
  });

  it('start once the pod of a killed process is gone', async () => {
    const states = { 'verification-survey': inventory(backup(1)) };
    const before = await run(states, { management: withPod() });
    expect(before.writes).toEqual(['delete Pod c1-etcd-verify']);
    expect(before.begun).toEqual([]);
    expect((await run(states)).begun).toContain(`verification ${id}`);
  });

  it('report their progress, and keep their pod', async () => {
    const { outcome, begun, writes } = await run({ verification: running }, { management: withPod() });
    expect(outcome).toMatchObject({ kind: 'done', message: `verifying backup ${id}: 4 of 20 MiB sent` });
    expect([begun, writes]).toEqual([[], []]);
  });

  it('do not report a problem for a new cluster', async () => {
    const { outcome } = await run({ 'verification-survey': inventory() });
    expect(outcome).toMatchObject({ kind: 'done', message: 'there is no backup to verify yet' });
  });

  it('report the newest verified backup, also if the status was lost', async () => {
    const lastVerified = { name: id, time: '2026-11-21T11:00:00Z', restoreSeconds: 3 };
    const result: VerificationInventory = { backups: [backup(1, true)], lastVerified };
    const { outcome } = await run({ 'verification-survey': { kind: 'done', inputsKey: '', at: now, result } });
    expect(outcome).toMatchObject({ kind: 'done', report: { etcd: { lastVerifiedBackup: lastVerified } } });
  });

  it('do not report an unreachable store, because the backup phase does', async () => {
    const { outcome } = await run({ 'verification-survey': failed(new StoreError('Unreachable', 'it is away'), 0) });
    expect(outcome).toMatchObject({ kind: 'done', message: 'cannot list the backups in the bucket: it is away' });
  });

  const store = { 'verification-survey': inventory(backup(1)) };
  const unusable = new BackupUnusable('it is damaged');

  it('name an unusable backup, and skip it for a day', async () => {
    const later = await run({ ...store, verification: failed(unusable, 24 * 60 + 1) });
    expect(later.begun).toContain(`verification ${id}`);
    const { outcome, begun } = await run({ ...store, verification: failed(unusable, 600) });
    expect(outcome).toMatchObject({ kind: 'degraded', reason: 'BackupUnusable' });
    expect(outcome).toHaveProperty('message', expect.stringContaining(`backup ${id}: it is damaged`));
    expect(begun).not.toContain(`verification ${id}`);
  });

  it('verify the next backup after an unusable one, which stays reported meanwhile', async () => {
    const verification = failed(unusable, 600, backupId(backup(2)));
    const { outcome, begun } = await run({ ...store, verification }, { status: condition('BackupUnusable') });
    expect(outcome).toMatchObject({ kind: 'degraded', reason: 'BackupUnusable' });
    expect(begun).toContain(`verification ${id}`);
  });

  it.each([
    ['the pod did not start', new Error('it did not'), 'VerificationFailed'],
    ['the store became unreachable', new StoreError('Unreachable', 'it is away'), 'StoreUnavailable'],
  ])('are retried after a minute when %s', async (_, error, reason) => {
    const soon = await run({ ...store, verification: failed(error, 0) });
    const requeueAt = new Date(now.getTime() + 60_000);
    expect(soon.outcome).toMatchObject({ kind: 'degraded', reason, requeueAt });
    expect(soon.begun).not.toContain(`verification ${id}`);
    const later = await run({ ...store, verification: failed(error, 2) });
    expect(later.begun).toContain(`verification ${id}`);
  });
});
