import { describe, expect, it } from 'vitest';
import { requestOf, revisionBump, runId } from '../../../../reconciler/backup/restore/request.ts';

const cluster = { name: 'c1', namespace: 'team' };
const backup = '2026-11-21T09-15-31.123Z-4711';
const well = { isLost: false, begun: undefined };
const lost = { isLost: true, begun: undefined };
const recovery = { acceptDataLossTo: backup };

describe('the request of a restore', () => {
  it('is none if the spec has none', () => {
    expect(requestOf({}, cluster, lost)).toBeUndefined();
  });

  it('is another one for every field that differs, and the same one for equal fields', () => {
    const from = { namespace: 'other', cluster: 'c9', identity: false };
    const sources = [
      { latest: true as const },
      { latest: true as const, request: 'again' },
      { backup },
      { before: '2026-11-21T10:00:00Z' },
      { latest: true as const, from },
    ];
    const ids = sources.map((restore) => requestOf({ restore }, cluster, well)?.id);
    expect(new Set(ids).size).toBe(sources.length);
    expect(sources.map((restore) => requestOf({ restore: { ...restore } }, cluster, well)?.id)).toEqual(ids);
  });

  it('selects a backup of the cluster itself, or of the cluster that is named', () => {
    expect(requestOf({ restore: { latest: true } }, cluster, well)).toMatchObject({
      owner: { namespace: 'team', cluster: 'c1' },
      choice: { kind: 'latest' },
    });
    const from = { namespace: 'other', cluster: 'c9', identity: false };
    expect(requestOf({ restore: { backup, from } }, cluster, well)).toMatchObject({
      owner: { namespace: 'other', cluster: 'c9' },
      choice: { kind: 'backup', id: backup },
    });
  });

  it('is a recovery only while the quorum is lost, and until the recovery has ended', () => {
    expect(requestOf({ recovery }, cluster, well)).toBeUndefined();
    const request = requestOf({ recovery }, cluster, lost);
    expect(request).toMatchObject({ kind: 'recovery', choice: { kind: 'backup', id: backup } });
    expect(requestOf({ recovery }, cluster, { isLost: false, begun: request?.id })).toEqual(request);
    expect(requestOf({ recovery, restore: { latest: true } }, cluster, lost)).toEqual(request);
    expect(requestOf({ recovery, restore: { latest: true } }, cluster, well)?.kind).toBe('restore');
    expect(requestOf({ recovery: { acceptDataLossTo: '4711' } }, cluster, lost)?.choice).toEqual({
      kind: 'reachableMember',
      revision: 4711,
    });
  });
});

describe('a run', () => {
  it('is distinguished from runs at another time, for another request and with other members', () => {
    const start = '2026-11-21T12:00:00.123Z';
    const ids = [
      runId('0123456789abcdef', start, 3),
      runId('0123456789abcdef', start, 5),
      runId('fedcba9876543210', start, 3),
      runId('0123456789abcdef', '2026-11-21T12:00:01.000Z', 3),
    ];
    expect(new Set(ids).size).toBe(4);
    expect(ids[0]).toBe('2026-11-21T12-00-00Z-01234567-3');
  });

  it('raises revisions beyond those of an earlier restore of the same backup, and of the writes since', () => {
    const first = revisionBump('2026-11-21T12:00:00Z');
    expect(first).toBeGreaterThan(1_000_000_000);
    expect(revisionBump('2026-11-21T12:10:00Z') - first).toBe(600_000);
    // a hundred restores, each of a backup taken after the previous one
    expect(first * 100).toBeLessThan(Number.MAX_SAFE_INTEGER);
  });
});
