import { describe, expect, it } from 'vitest';
import type { Manifest } from '../../../reconciler/backup/manifest.ts';
import { sizeText, spanText } from '../../../reconciler/cli/format.ts';
import { type BackupEntry, describeBackups, shapeOfBackups } from '../../../reconciler/cli/backup-table.ts';
import { markedView, narrowView } from '../../support/marked-view.ts';

const owner = { namespace: 'team', cluster: 'c1' };
const now = Date.parse('2026-11-21T12:00:00Z');
const hour = 3_600_000;

function entry(hoursAgo: number, changes: Partial<Manifest> = {}, restoreSeconds?: number): BackupEntry {
  const name = { time: now - hoursAgo * hour, revision: 5000 - hoursAgo, owner: 'uid' };
  const manifest: Manifest = {
    formatVersion: 1,
    ...owner,
    clusterId: 'cdf818194e3a8c32',
    time: new Date(name.time).toISOString(),
    revision: name.revision,
    sha256: '0'.repeat(64),
    sizeBytes: 1_572_864,
    etcdVersion: '3.6.16',
    kubernetesVersion: 'v1.36.3',
    keys: { total: 312, byResource: {} },
    objects: { snapshot: 'snapshot.db' },
    ...changes,
  };
  const time = '2026-11-21T08:00:00Z';
  const verification =
    restoreSeconds === undefined ? undefined : ({ formatVersion: 1, time, revision: 1, restoreSeconds } as const);
  return { kind: 'backup', name, manifest, verification };
}

const encrypted = {
  encryption: { keyId: '2026' },
  objects: { snapshot: 'snapshot.db.encrypted', bundle: 'bundle.encrypted' },
};
const unreadable: BackupEntry = {
  kind: 'unreadable',
  name: { time: now - 50 * hour, revision: 7 },
  problem: 'it is damaged',
};
const unfinished = [{ time: now - 90_000, revision: 5001 }];

const bareSnapshots = ['2026-08-21T20:15:00+02:00.etcd'];

describe('the table of backups', () => {
  it('has a line for each backup, and lists unusable and unfinished ones below', () => {
    const entries = [entry(1, encrypted), entry(25, { sizeBytes: 734_003_200 }, 2.44), unreadable];
    expect(describeBackups(owner, { entries, foreign: [], unfinished, bareSnapshots }, now)).toEqual([
      'NAME                            AGE   SIZE      REVISION   KEYS   KUBERNETES   ETCD     VERIFIED           ENCRYPTED   BUNDLE',
      '2026-11-21T11-00-00.000Z-4999   1h    1.5 MiB   4999       312    v1.36.3      3.6.16   no                 by 2026     yes',
      '2026-11-20T11-00-00.000Z-4975   25h   700 MiB   4975       312    v1.36.3      3.6.16   restored in 2.4s   no          no',
      '',
      'Cannot be used:',
      '  2026-11-19T10-00-00.000Z-7: it is damaged',
      '',
      'Incomplete: in progress or interrupted; the operator removes interrupted ones later:',
      '  2026-11-21T11-58-30.000Z-5001, started 90s ago',
      '',
      'Snapshots without a manifest, of another provider:',
      '  2026-08-21T20:15:00+02:00.etcd',
    ]);
  });

  it('is painted by its meaning, and wraps what is wrong to the terminal', () => {
    const listed = { entries: [entry(25, {}, 2.44), unreadable], foreign: [], unfinished: [], bareSnapshots: [] };
    const text = describeBackups(owner, listed, now, markedView).join('\n');
    expect(text).toMatch(/^<heading>NAME<\/heading> /);
    expect(text).toContain('<ok>restored in 2.4s</ok>');
    expect(text).toMatch(/^ {2}<fails>2026-11-19T10-00-00\.000Z-7<\/fails>: it is damaged$/m);
    expect(describeBackups(owner, listed, now, narrowView(40)).slice(-2)).toEqual([
      '  2026-11-19T10-00-00.000Z-7: it is',
      '    damaged',
    ]);
  });

  it('says which are of a predecessor, and that only a person deletes them', () => {
    const [own, earlier] = [entry(1), entry(25)];
    const lines = describeBackups(
      owner,
      { entries: [own, earlier], foreign: [earlier.name], unfinished: [], bareSnapshots: [] },
      now,
    );
    expect(lines.slice(3)).toEqual([
      '',
      'Of another HostedControlPlane of this name, such as a predecessor. The operator neither counts nor deletes them:',
      'when you need one no longer, delete its folder in team/c1/ of the bucket:',
      '  2026-11-20T11-00-00.000Z-4975',
    ]);
  });

  it('says that there are none', () => {
    expect(describeBackups(owner, { entries: [], foreign: [], unfinished: [], bareSnapshots: [] }, now)).toEqual([
      'no backups of team/c1 in the bucket',
    ]);
  });

  it('has exact values for programs', () => {
    const listed = { entries: [entry(1, encrypted, 2.44), unreadable], foreign: [], unfinished, bareSnapshots };
    expect(shapeOfBackups(owner, listed)).toEqual({
      ...owner,
      backups: [
        {
          name: '2026-11-21T11-00-00.000Z-4999',
          time: '2026-11-21T11:00:00.000Z',
          ownerUID: 'uid',
          revision: 4999,
          sizeBytes: 1_572_864,
          keys: 312,
          kubernetesVersion: 'v1.36.3',
          etcdVersion: '3.6.16',
          verified: { time: '2026-11-21T08:00:00Z', restoreSeconds: 2.44 },
          encryptionKey: '2026',
          hasRecoveryBundle: true,
        },
        {
          name: '2026-11-19T10-00-00.000Z-7',
          time: '2026-11-19T10:00:00.000Z',
          ownerUID: null,
          revision: 7,
          problem: 'it is damaged',
        },
      ],
      unfinished: [{ name: '2026-11-21T11-58-30.000Z-5001', time: '2026-11-21T11:58:30.000Z', ownerUID: null }],
      bareSnapshots,
    });
  });
});

it.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1.0 KiB'],
  [1_572_864, '1.5 MiB'],
  [125_829_120, '120 MiB'],
  [2 ** 41, '2.0 TiB'],
  [2 ** 52, '4096 TiB'],
])('%d bytes are %s', (bytes, text) => expect(sizeText(bytes)).toBe(text));

it.each([
  [-5, '0s'],
  [119, '119s'],
  [120, '2m'],
  [310, '5m10s'],
  [3 * 3600 + 300, '3h5m'],
  [47 * 3600, '47h'],
  [4 * 86400 + 7200, '4d2h'],
  [90 * 86400 + 7200, '90d'],
])('%d seconds are %s', (seconds, text) => expect(spanText(seconds * 1000)).toBe(text));
