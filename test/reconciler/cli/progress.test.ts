import { describe, expect, it } from 'vitest';
import type { HostedControlPlaneStatus } from '../../../constructs/api/status.ts';
import { backupProgress } from '../../../reconciler/cli/backup.ts';
import { chosenBackup } from '../../../reconciler/backup/choose-backup.ts';
import { readControlPlane } from '../../../reconciler/cli/control-plane.ts';
import { restoreProgress } from '../../../reconciler/cli/request-restore.ts';
import { hostedControlPlaneObject } from '../../support/scope.ts';

const withStatus = (status: Partial<HostedControlPlaneStatus>) =>
  readControlPlane(hostedControlPlaneObject({ status }));
const condition = (type: string, status: 'True' | 'False', reason: string, message: string) => ({
  conditions: [{ type, status, reason, message, lastTransitionTime: '2026-11-21T09:00:00Z' }],
});
const earlier = '2026-11-21T09:00:00Z';
const later = '2026-11-21T10:00:00Z';

describe('a requested backup', () => {
  const backup = (status: Partial<HostedControlPlaneStatus>) =>
    backupProgress(withStatus(status), { request: 'now', lastAttemptTime: earlier });
  const down = condition('EtcdBackupReady', 'False', 'StoreUnavailable', 'bucket b cannot be reached');

  it.each([
    ['is not seen yet', {}, { kind: 'running', message: 'waiting for the operator' }],
    [
      'reports its progress',
      condition('EtcdBackupReady', 'True', 'ReconcileSucceeded', '48 of about 120 MiB'),
      { kind: 'running', message: '48 of about 120 MiB' },
    ],
    [
      'is not failed by an earlier attempt',
      { ...down, etcd: { backup: { lastAttemptTime: earlier } } },
      { kind: 'running', message: 'bucket b cannot be reached' },
    ],
    [
      'is failed by a later attempt',
      { ...down, etcd: { backup: { lastAttemptTime: later } } },
      { kind: 'failed', message: 'no backup was taken: bucket b cannot be reached' },
    ],
    [
      'is not failed by a temporary condition',
      {
        ...condition('EtcdBackupReady', 'False', 'WaitingForMembers', 'no member is caught up'),
        etcd: { backup: { lastAttemptTime: later } },
      },
      { kind: 'running', message: 'no member is caught up' },
    ],
    [
      'is done when its own request is',
      { etcd: { backup: { lastRequest: 'now', lastBackup: '2026-11-21T09-15-31.123Z-4711' } } },
      { kind: 'done', message: '2026-11-21T09-15-31.123Z-4711' },
    ],
    ['is not done when another one is', { etcd: { backup: { lastRequest: 'then' } } }, { kind: 'running' }],
  ] as const)('%s', (_, status, expected) => {
    expect(backup(status as Partial<HostedControlPlaneStatus>)).toMatchObject(expected);
  });
});

describe('a requested restore', () => {
  const restore = (status: Partial<HostedControlPlaneStatus>) =>
    restoreProgress(withStatus(status), { generation: 5, previous: 'old' });
  const started = { request: 'new', startTime: earlier, backup: 'b' };
  const refused = condition('EtcdRestoreReady', 'False', 'BackupUnusable', 'it is damaged');

  it.each([
    [
      'is not seen yet',
      { observedGeneration: 4, ...refused },
      { kind: 'running', message: 'waiting for the operator' },
    ],
    [
      'is not done because an earlier one is',
      { observedGeneration: 5, etcd: { restore: { request: 'old', startTime: earlier, completionTime: later } } },
      { kind: 'running', message: 'starting' },
    ],
    [
      'reports its step',
      {
        observedGeneration: 5,
        etcd: { restore: { ...started, step: 'RestoringMembers' } },
        ...condition('EtcdRestoreReady', 'False', 'RestoringMembers', '1 of 3 members'),
      },
      { kind: 'running', message: 'RestoringMembers: 1 of 3 members' },
    ],
    [
      'is refused',
      { observedGeneration: 5, ...refused },
      { kind: 'failed', message: 'nothing was restored: it is damaged' },
    ],
    [
      'is done',
      { observedGeneration: 5, etcd: { restore: { ...started, completionTime: later, restoredTo: '4711' } } },
      { kind: 'done', message: 'b restored to revision 4711' },
    ],
  ] as const)('%s', (_, status, expected) => {
    expect(restore(status as Partial<HostedControlPlaneStatus>)).toMatchObject(expected);
  });
});

describe('the chosen backup', () => {
  const at = (hour: number) => ({ time: Date.parse(`2026-11-21T0${hour}:00:00Z`), revision: hour });
  const backups = [at(9), at(7), at(5)];

  it.each([
    ['the newest', { kind: 'latest' }, 9],
    ['one by its name', { kind: 'backup', id: '2026-11-21T07-00-00.000Z-7' }, 7],
    ['not one of another revision', { kind: 'backup', id: '2026-11-21T07-00-00.000Z-8' }, undefined],
    ['the newest that was started before a time', { kind: 'before', before: '2026-11-21T09:00:00Z' }, 7],
    ['the newest before a time in another zone', { kind: 'before', before: '2026-11-21T09:30:00+01:00' }, 7],
    ['none before all', { kind: 'before', before: '2026-11-21T04:00:00Z' }, undefined],
  ] as const)('is %s', (_, choice, expected) => expect(chosenBackup(choice, backups)?.revision).toBe(expected));

  it('is undefined if there is none', () => expect(chosenBackup({ kind: 'latest' }, [])).toBeUndefined());
});
