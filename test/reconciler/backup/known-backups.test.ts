import { describe, expect, it } from 'vitest';
import type { WorkState } from '../../../reconciler/engine/tasks/background-work.ts';
import { changeCause, requestCause } from '../../../reconciler/backup/causes.ts';
import { backupReport, knownBackups, openCauses } from '../../../reconciler/backup/known-backups.ts';
import type { BackupResult } from '../../../reconciler/backup/take-backup.ts';

const upgrade = 'Kubernetes 1.35 to 1.36';
const requested = { request: 'now', changes: [upgrade] };
const nothing = { request: undefined, changes: [] };
const older = { lastBackup: '2026-11-20T02-30-00.000Z-4000', lastAttemptTime: '2026-11-20T02:31:00.000Z' };

const taken: WorkState<BackupResult> = {
  kind: 'done',
  inputsKey: 'x',
  at: new Date('2026-11-21T12:01:00Z'),
  result: {
    newest: '2026-11-21T12-00-00.000Z-4711',
    sizeBytes: 1_000,
    satisfied: [requestCause('now'), changeCause(upgrade)],
    retentionFault: undefined,
  },
};
const afterwards = {
  lastBackup: '2026-11-21T12-00-00.000Z-4711',
  sizeBytes: 1_000,
  lastRequest: 'now',
  takenFor: [upgrade],
  lastAttemptTime: '2026-11-21T12:01:00.000Z',
};

describe('the known backups', () => {
  it.each<[string, Parameters<typeof knownBackups>, object]>([
    ['are those in the status', [older, nothing, { kind: 'idle' }], older],
    ['include the last attempt that the status does not contain yet', [older, requested, taken], afterwards],
    ['include the last attempt if the status is lost', [undefined, requested, taken], afterwards],
    ['stay the same once the status contains the attempt', [afterwards, requested, taken], afterwards],
    [
      'include what an earlier operator has written as changes of versions',
      [{ ...afterwards, takenFor: undefined, versionChanges: [upgrade] }, requested, { kind: 'idle' }],
      afterwards,
    ],
    [
      'contain no change of version that is complete',
      [afterwards, { request: 'now', changes: [] }, taken],
      { ...afterwards, takenFor: undefined },
    ],
    [
      'contain the time of a failed attempt',
      [
        older,
        requested,
        { kind: 'failed', inputsKey: 'x', at: new Date('2026-11-21T12:01:00Z'), error: 1, failures: 1 },
      ],
      { ...older, lastAttemptTime: '2026-11-21T12:01:00.000Z' },
    ],
  ])('%s', (_, [status, asked, work], expected) => {
    expect({ takenFor: undefined, ...knownBackups(status, asked, work) }).toEqual({
      takenFor: undefined,
      ...expected,
    });
  });

  it('do not count for a change of version that is requested again', () => {
    const over = knownBackups(afterwards, { request: 'now', changes: [] }, taken);
    expect(openCauses(requested, knownBackups(over, requested, taken))).toEqual([changeCause(upgrade)]);
  });

  it('report times and names in the status, and nothing if no backup is known', () => {
    expect(backupReport(afterwards, Date.parse('2026-11-22T02:30:00Z'))).toEqual({
      etcdLastBackupTime: '2026-11-21T12:00:00.000Z',
      etcdNextBackupTime: '2026-11-22T02:30:00.000Z',
      etcd: { backup: afterwards },
    });
    expect(backupReport({}, undefined)).toEqual({});
  });
});

describe('the cause of a backup', () => {
  it.each<[string, Parameters<typeof openCauses>, string[]]>([
    ['is a new annotation', [{ request: 'again', changes: [] }, afterwards], ['request:again']],
    ['is not an annotation that has its backup', [{ request: 'now', changes: [] }, afterwards], []],
    ['is not an empty annotation', [{ request: '', changes: [] }, {}], []],
    ['is a change of version', [{ request: undefined, changes: [upgrade] }, {}], [`change:${upgrade}`]],
    [
      'is not an annotation that has its backup, however long its text is',
      [{ request: 'x'.repeat(300), changes: [] }, { lastRequest: 'x'.repeat(256) }],
      [],
    ],
  ])('%s', (_, [asked, known], expected) => {
    expect(openCauses(asked, known)).toEqual(expected);
  });
});
