import { describe, expect, it } from 'vitest';
import {
  backupId,
  objectKey,
  objectNames,
  ownerFolder,
  parseBackupId,
  parseObjectKey,
} from '../../../constructs/cluster/backup-names.ts';

const owner = { namespace: 'team-a', cluster: 'prod' };
const backup = { time: Date.parse('2026-11-21T09:15:31.123Z'), revision: 4711 };

describe('keys of backups', () => {
  it('contain the cluster, the time and the revision of the backup', () => {
    expect(objectKey(ownerFolder('dumps/eu', owner), backup, objectNames.manifest)).toBe(
      'dumps/eu/team-a/prod/2026-11-21T09-15-31.123Z-4711/manifest.json',
    );
    expect(ownerFolder('', owner)).toBe('team-a/prod/');
  });

  it('sort by time, whatever the revision', () => {
    const ids = [
      { time: 0, revision: 9_007_199_254_740_991 },
      { time: 999, revision: 1 },
      { time: 1000, revision: 10 },
      { time: backup.time, revision: 9 },
      { time: backup.time + 1, revision: 2 },
      { time: Date.parse('2099-01-01'), revision: 0 },
    ].map(backupId);
    expect([...ids].sort()).toEqual(ids);
    expect(ids.filter((id) => id.includes(':'))).toEqual([]);
  });

  it('are read back as they were written', () => {
    const folder = ownerFolder('p', owner);
    for (const object of Object.values(objectNames)) {
      expect(parseObjectKey(folder, objectKey(folder, backup, object))).toEqual({ backup, object });
    }
  });

  it('are never a folder of another key, even with prefixes that look like folders of backups', () => {
    const folders = ['', 'team-a/prod', 'snapshot', 'team-a'].flatMap((prefix) =>
      ['snapshot', 'prod', 'snapshot.db', 'manifest.json'].map((cluster) =>
        ownerFolder(prefix, { namespace: 'team-a', cluster }),
      ),
    );
    const keys = folders.flatMap((folder) =>
      Object.values(objectNames).map((object) => objectKey(folder, backup, object)),
    );
    expect(keys.flatMap((key) => keys.filter((other) => other.startsWith(`${key}/`)))).toEqual([]);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it.each([
    'team-a/prod-2/2026-11-21T09-15-31.123Z-4711/manifest.json',
    'team-a/prod/manifest.json',
    'team-a/prod/2026-11-21T09-15-31.123Z-4711/',
    'team-a/prod/2026-11-21T09-15-31.123Z-4711/deeper/manifest.json',
    'team-a/prod/2026-11-21T09:15:31Z.etcd',
  ])('are not mistaken for %s', (key) => {
    expect(parseObjectKey(ownerFolder('', owner), key)).toBeUndefined();
  });

  it.each(['', 'latest', '2026-02-30T09-15-31.123Z-1', '2026-11-21T09-15-31.123Z-007', '2026-11-21T09-15-31Z-1'])(
    'do not parse "%s" as a backup id',
    (id) => {
      expect(parseBackupId(id)).toBeUndefined();
    },
  );
});
