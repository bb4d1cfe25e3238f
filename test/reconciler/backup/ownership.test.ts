import { describe, expect, it } from 'vitest';
import { type BackupChoice, chooseOwnFirst, describeForeign } from '../../../reconciler/backup/choose-backup.ts';
import { markedOwner, markerObject, ownerMarker } from '../../../reconciler/backup/owner-marker.ts';
import { contemporary, incarnationOf, isContinued, isOwnUnmarked } from '../../../reconciler/backup/ownership.ts';
import { foundedClusterIds } from '../../../reconciler/etcd/derived-ids.ts';

const folder = { namespace: 'team', cluster: 'c1' };
const [founded = '', foundedOfThree = ''] = foundedClusterIds({ namespace: 'team', name: 'c1' });
const hour = 3_600_000;
const created = Date.parse('2026-11-21T12:00:00Z');
const at = (hours: number, owner?: string) => ({ time: created + hours * hour, revision: 1, owner });

describe('a marker', () => {
  it.each<[string, string, readonly string[], string | undefined, boolean]>([
    ['another object with the same restored etcd', 'a1', ['a1', founded], 'a1', true],
    ['another object with an etcd that was restored later', 'a1', ['b2', 'a1'], 'a1', true],
    ['a predecessor, whose founded etcd has the same ID', 'p', [founded], founded, false],
    ['a predecessor with three members', 'p', [foundedOfThree], foundedOfThree, false],
    ['a rebuilt cluster', 'r', ['c3'], founded, false],
    ['an object before etcd has formed', 'p', ['a1'], undefined, false],
  ])('of %s', (_, uid, clusterIds, clusterId, expected) => {
    const incarnation = { uid: 'mine', createdAt: created, clusterId };
    expect(isContinued({ formatVersion: 1, uids: [uid], clusterIds: [...clusterIds] }, incarnation, folder)).toBe(
      expected,
    );
  });

  it('continues its chain, the newest first, and each link once', () => {
    const chain = { uids: ['now', 'before', 'now'], clusterIds: ['b2', founded] };
    const ids = { formatVersion: 1, uids: ['now', 'before'] };
    expect(ownerMarker(chain, 'c3')).toEqual({ ...ids, clusterIds: ['c3', 'b2', founded] });
    expect(ownerMarker(chain, 'b2')).toEqual({ ...ids, clusterIds: ['b2', founded] });
    expect(ownerMarker(chain, undefined)).toEqual({ ...ids, clusterIds: ['b2', founded] });
    expect(
      ownerMarker({ uids: ['now'], clusterIds: Array.from({ length: 99 }, (_, id) => `${id}`) }, 'f').clusterIds,
    ).toHaveLength(32);
  });

  it('has a name with the uid', () => expect(markedOwner(markerObject('6c1f-0c1e'))).toBe('6c1f-0c1e'));

  it.each([
    ['owner-6c1f0c1e-3a4b-4e57-9c57-1d6f2a8f0e11.json', '6c1f0c1e-3a4b-4e57-9c57-1d6f2a8f0e11'],
    ['manifest.json', undefined],
    ['owner-.json', undefined],
    ['owner-a/b.json', undefined],
  ])('is recognized by its name: %s', (object, owner) => {
    expect(markedOwner(object)).toBe(owner);
  });
});

describe('a backup of an earlier release', () => {
  it.each<[string, string, number, string | undefined, boolean]>([
    ['its own', founded, 1, founded, true],
    ['its own, before it was restored', founded, 1, 'a1', true],
    ['its own, of the restored etcd', 'a1', 1, 'a1', true],
    ["a predecessor's, whose etcd had the same ID", founded, -1, founded, false],
    ["a rehearsal's, which is a restored etcd", 'c3', 1, founded, false],
    ["another one's, before etcd has formed", 'c3', 1, undefined, false],
  ])('is %s', (_, id, hours, clusterId, expected) => {
    const incarnation = { uid: 'mine', createdAt: created, clusterId };
    expect(isOwnUnmarked({ clusterId: id }, at(hours), incarnation, folder)).toBe(expected);
  });
});

it('an incarnation is read from its object, and owns nothing by time if that has none', () => {
  const metadata = { uid: 'u', creationTimestamp: '2026-11-21T12:00:00Z' };
  const status = { etcd: { clusterID: 'a1' } };
  expect(incarnationOf({ metadata, status })).toEqual({ uid: 'u', createdAt: created, clusterId: 'a1' });
  expect(incarnationOf({ metadata: {} })).toEqual({ uid: '', createdAt: 0, clusterId: undefined });
});

describe('backups of others', () => {
  it.each<[string, readonly number[], readonly number[], number | undefined]>([
    ['of a predecessor', [3, 4], [1, 2], undefined],
    ['of another one that writes too', [3, 5], [1, 4], 4],
    ['of another one that is newer than all', [3, 5], [4, 6], 6],
    ['beside none of its own', [], [1, 2], undefined],
  ])('%s', (_, own, foreign, expected) => {
    const found = contemporary(
      own.map((hours) => at(hours)),
      foreign.map((hours) => at(hours)),
    );
    expect(found?.time).toBe(expected === undefined ? undefined : at(expected).time);
  });
});

describe('the choice of a backup', () => {
  const latest: BackupChoice = { kind: 'latest' };
  const before = (hours: number): BackupChoice => ({ kind: 'before', before: new Date(at(hours).time).toISOString() });
  const named: BackupChoice = { kind: 'backup', id: '2026-11-21T14-00-00.000Z-1' };
  type Hours = readonly (readonly [hours: number, owner: string | undefined])[];
  it.each<[string, BackupChoice, readonly number[], Hours, boolean, string | number]>([
    ['the newest of its own, although a rehearsal has a newer one', latest, [3, 1], [[4, 'r']], false, 3],
    ['the newest of its own before a time', before(3), [3, 1], [[2, 'r']], false, 1],
    ['one of a predecessor by its name', named, [3], [[2, 'p']], false, 2],
    ['none of a predecessor unasked', latest, [], [[2, 'p']], false, 'foreign'],
    ['none of a predecessor for a time before its own', before(3), [4], [[2, 'p']], true, 'foreign'],
    [
      'the newest of a predecessor if it is named, or there is no etcd yet',
      latest,
      [],
      [
        [2, 'p'],
        [1, 'p'],
      ],
      true,
      2,
    ],
    [
      'that of the last of two predecessors',
      latest,
      [],
      [
        [4, 'q'],
        [3, 'q'],
        [2, 'p'],
      ],
      true,
      4,
    ],
    [
      'neither of two that wrote at the same time',
      latest,
      [],
      [
        [4, 'r'],
        [3, 'p'],
        [2, 'r'],
      ],
      true,
      'ambiguous',
    ],
    [
      'that of the one that wrote at that time',
      before(3),
      [],
      [
        [4, 'r'],
        [3, 'p'],
        [2, 'r'],
      ],
      true,
      2,
    ],
    [
      'the newest of an earlier release',
      latest,
      [],
      [
        [2, undefined],
        [1, undefined],
      ],
      true,
      2,
    ],
    ['none if there is none', latest, [], [], true, 'none'],
  ])('selects %s', (_, choice, own, foreign, mayBeForeign, expected) => {
    const chosen = chooseOwnFirst(
      choice,
      { own: own.map((hours) => at(hours, 'mine')), foreign: foreign.map(([hours, owner]) => at(hours, owner)) },
      mayBeForeign,
    );
    expect(chosen.kind === 'chosen' ? (chosen.backup.time - created) / hour : chosen.kind).toBe(expected);
  });

  it('is left to the user with the names of the backups', () => {
    const [newest, other] = [at(4, 'r'), at(3, 'p')];
    const names = '2026-11-21T16-00-00.000Z-1 and 2026-11-21T15-00-00.000Z-1';
    expect(describeForeign({ kind: 'ambiguous', newest, other }, folder)).toContain(`the newest are ${names}`);
    expect(describeForeign({ kind: 'foreign', newest }, folder)).toContain(
      '2026-11-21T16-00-00.000Z-1 is of another one with the name team/c1; set etcd.restore.backup to its name',
    );
  });
});
