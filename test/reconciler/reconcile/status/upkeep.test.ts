import { describe, expect, it } from 'vitest';
import { type NextRecord, upkeepEvents, type UpkeepRecord } from '../../../../reconciler/reconcile/status/upkeep.ts';

const created = new Date('2026-11-21T12:00:00Z');
const [earlier, later] = ['2026-11-21T13:00:00.000Z', '2026-11-21T14:00:00.000Z'];
const healthy = { health: { status: 'True' } } as const;
const unhealthy = { health: { status: 'False' } } as const;
const health = (reason: string): UpkeepRecord => ({
  conditions: [
    {
      type: 'EtcdClusterHealthy',
      status: 'False',
      reason,
      message: '',
      lastTransitionTime: earlier,
      observedGeneration: 1,
    },
  ],
});

describe('what the operator has done to etcd', () => {
  it.each<[string, UpkeepRecord | undefined, Partial<NextRecord>, string[]]>([
    ['nothing', undefined, {}, []],
    ['nothing since', { etcdLastBackupTime: later }, { etcdLastBackupTime: later }, []],
    ['a first backup', {}, { etcdLastBackupTime: earlier }, ['EtcdBackupFinished']],
    ['another backup', { etcdLastBackupTime: earlier }, { etcdLastBackupTime: later }, ['EtcdBackupFinished']],
    ['a backup from before it was created', undefined, { etcdLastBackupTime: '2026-11-21T11:00:00.000Z' }, []],
    ['a deletion of the newest backup', { etcdLastBackupTime: later }, { etcdLastBackupTime: earlier }, []],
    ['the end of backups', { etcdLastBackupTime: later }, {}, []],
    ['a first defragmentation', {}, { etcdLastDefragTime: earlier }, ['FragmentationThresholdExceeded']],
    [
      'another defragmentation',
      { etcdLastDefragTime: earlier },
      { etcdLastDefragTime: later },
      ['FragmentationThresholdExceeded'],
    ],
    ['a defragmentation that is known', { etcdLastDefragTime: later }, { etcdLastDefragTime: later }, []],
    ['its first volumes', undefined, { etcdVolumeSize: '4Gi' }, []],
    ['the same volumes', { etcdVolumeSize: '4Gi' }, { etcdVolumeSize: '4096Mi' }, []],
    ['larger volumes', { etcdVolumeSize: '4Gi' }, { etcdVolumeSize: '8Gi' }, ['RequestedSizeChanged']],
    ['an alarm that is disarmed', health('SpaceExhausted'), healthy, ['EtcdAlarmDisarm']],
    ['an alarm that stays', health('SpaceExhausted'), unhealthy, []],
    ['a member that is well again', health('NotHealthy'), healthy, []],
  ])('is reported once: %s', (_, before, after, reasons) => {
    const events = upkeepEvents(before, { health: undefined, ...after }, created);
    expect(events.map(({ reason }) => reason)).toEqual(reasons);
    expect(events.every(({ type }) => type === 'Normal')).toBe(true);
  });

  it.each<[string, UpkeepRecord, Partial<NextRecord>, RegExp]>([
    [
      'a check that is skipped',
      {},
      { preflight: { version: 'v1.37.1', succeeded: later, skipped: ['backup: none is verified'] } },
      /^Warning PreflightSkipped: the upgrade to v1\.37\.1 begins although .*: backup: none is verified$/,
    ],
    [
      'a release revision that is adopted because the old one is no longer kept',
      { releaseRevision: 1 },
      { releaseRevision: 4 },
      /^Warning ReleaseAdopted: .* 4 instead of 1, because revision 1 is no longer kept/,
    ],
    [
      'a release revision that is adopted on request',
      { releaseRevision: 2 },
      { releaseRevision: 4 },
      /^Normal ReleaseAdopted: .* 4 instead of 2: the pods/,
    ],
  ])('is reported with its reason: %s', (_, before, after, text) => {
    const events = upkeepEvents(before, { health: undefined, ...after }, created);
    expect(events.map(({ type, reason, note }) => `${type} ${reason}: ${note}`)).toEqual([expect.stringMatching(text)]);
    expect(upkeepEvents(after, { health: undefined, ...after }, created)).toEqual([]);
  });

  it('is counted in one Event when it happens again soon: only the sizes of volumes differ', () => {
    const of = (time: string) =>
      upkeepEvents({}, { ...healthy, etcdLastBackupTime: time, etcdLastDefragTime: time }, created);
    expect(of(earlier)).toEqual(of(later));
    const [grown] = upkeepEvents({ etcdVolumeSize: '4Gi' }, { ...healthy, etcdVolumeSize: '8Gi' }, created);
    expect(grown?.note).toBe('all volumes of etcd have grown from 4Gi to 8Gi');
  });
});
