import { describe, expect, it } from 'vitest';
import type { WorkState } from '../../../reconciler/tasks/background-work.ts';
import { changeCause, requestCause } from '../../../reconciler/backup/causes.ts';
import { backupReport, knownBackups, openCauses } from '../../../reconciler/backup/known-backups.ts';
import type { BackupResult } from '../../../reconciler/backup/take-backup.ts';

const upgrade = 'Kubernetes 1.35 to 1.36';
const asking = { request: 'now', changes: [upgrade] };
const nobody = { request: undefined, changes: [] };
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
  versionChanges: [upgrade],
  lastAttemptTime: '2026-11-21T12:01:00.000Z',
};

describe('what is known of backups', () => {
  it.each<[string, Parameters<typeof knownBackups>, object]>([
    ['is what the status says', [older, nobody, { kind: 'idle' }], older],
    ['is what an attempt has shown that the status does not tell yet', [older, asking, taken], afterwards],
    ['is what the attempt has shown also when the status is lost', [undefined, asking, taken], afterwards],
    ['is the same once the status tells it', [afterwards, asking, taken], afterwards],
    [
      'holds no change of version that is over',
      [afterwards, { request: 'now', changes: [] }, taken],
      { ...afterwards, versionChanges: undefined },
    ],
    [
      'holds the time of an attempt that failed',
      [older, asking, { kind: 'failed', inputsKey: 'x', at: new Date('2026-11-21T12:01:00Z'), error: 1, failures: 1 }],
      { ...older, lastAttemptTime: '2026-11-21T12:01:00.000Z' },
    ],
  ])('%s', (_, [status, asked, work], expected) => {
    expect({ versionChanges: undefined, ...knownBackups(status, asked, work) }).toEqual({
      versionChanges: undefined,
      ...expected,
    });
  });

  it('does not count a backup for a change of version that is asked for once more', () => {
    const over = knownBackups(afterwards, { request: 'now', changes: [] }, taken);
    expect(openCauses(asking, knownBackups(over, asking, taken))).toEqual([changeCause(upgrade)]);
  });

  it('tells of times and names in the status, and nothing when nothing is known', () => {
    expect(backupReport(afterwards, Date.parse('2026-11-22T02:30:00Z'))).toEqual({
      etcdLastBackupTime: '2026-11-21T12:00:00.000Z',
      etcdNextBackupTime: '2026-11-22T02:30:00.000Z',
      etcd: { backup: afterwards },
    });
    expect(backupReport({}, undefined)).toEqual({});
  });
});

describe('what asks for a backup', () => {
  it.each<[string, Parameters<typeof openCauses>, string[]]>([
    ['is a new annotation', [{ request: 'again', changes: [] }, afterwards], ['request:again']],
    ['is no annotation that has got its backup', [{ request: 'now', changes: [] }, afterwards], []],
    ['is no empty annotation', [{ request: '', changes: [] }, {}], []],
    ['is a change of version', [{ request: undefined, changes: [upgrade] }, {}], [`change:${upgrade}`]],
    [
      'is no annotation that has got its backup, however long it is',
      [{ request: 'x'.repeat(300), changes: [] }, { lastRequest: 'x'.repeat(256) }],
      [],
    ],
  ])('%s', (_, [asked, known], expected) => {
    expect(openCauses(asked, known)).toEqual(expected);
  });
});
