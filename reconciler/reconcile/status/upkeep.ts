import { isMore } from '../../../constructs/api/quantity.ts';
import { isKept } from '../../../constructs/cluster/release-revisions.ts';
import type { HostedControlPlaneStatus } from '../../../constructs/api/status.ts';
import type { ConditionUpdate } from '../../engine/condition-update.ts';
import type { EventNote } from '../../kube/events.ts';

/** The fields of a status that record what the operator has done without a request for it. */
export type UpkeepRecord = Pick<
  HostedControlPlaneStatus,
  'etcdLastBackupTime' | 'etcdLastDefragTime' | 'etcdVolumeSize' | 'preflight' | 'releaseRevision' | 'conditions'
>;

/** A status that is about to be written, with what becomes the condition EtcdClusterHealthy. */
export interface NextRecord extends Omit<UpkeepRecord, 'conditions'> {
  readonly health: Pick<ConditionUpdate, 'status'> | undefined;
}

/**
 * Events for what the operator has done without a request since the last status. That status is the memory of what was reported,
 * also across restarts. Notes repeat their text, so that frequent ones are counted in one Event.
 * @param created when the control plane was created: older backups are those of another one
 */
export function upkeepEvents(before: UpkeepRecord | undefined, after: NextRecord, created: Date): EventNote[] {
  const health = before?.conditions?.find(({ type }) => type === 'EtcdClusterHealthy');
  const backups = [before?.etcdLastBackupTime ?? created.toISOString(), after.etcdLastBackupTime] as const;
  return [
    ...(isLater(...backups) ? [backupFinished] : []),
    ...(isLater(before?.etcdLastDefragTime, after.etcdLastDefragTime) ? [defragmented] : []),
    ...grown(before?.etcdVolumeSize, after.etcdVolumeSize),
    ...skipped(before?.preflight, after.preflight),
    ...adopted(before?.releaseRevision, after.releaseRevision),
    ...(health?.reason === 'SpaceExhausted' && after.health?.status === 'True' ? [disarmed] : []),
  ];
}

/** Reasons and actions are those of teutonet's provider. */
const backupFinished: EventNote = {
  type: 'Normal',
  reason: 'EtcdBackupFinished',
  action: 'EtcdBackupFinished',
  note: 'a backup of etcd is stored, and status.etcd.backup.lastBackup names it',
};

const defragmented: EventNote = {
  type: 'Normal',
  reason: 'FragmentationThresholdExceeded',
  action: 'EtcdDefragmentation',
  note: 'the operator has defragmented etcd, which returned unused space to the volumes',
};

const disarmed: EventNote = {
  type: 'Normal',
  reason: 'EtcdAlarmDisarm',
  action: 'EtcdAlarmDisarm',
  note: 'the alarm NOSPACE is disarmed, and etcd accepts writes again',
};

/** Once for each upgrade and what it has skipped. */
function skipped(before: UpkeepRecord['preflight'], after: UpkeepRecord['preflight']): EventNote[] {
  const [known, found] = [before, after].map((checks) => JSON.stringify([checks?.version, checks?.skipped]));
  if (!after?.skipped || known === found) return [];
  const note = `the upgrade to ${after.version} begins although checks have found: ${after.skipped.join('; ')}`;
  return [{ type: 'Warning', reason: 'PreflightSkipped', action: 'Upgrade', note }];
}

/** A warning when no user has requested it. A way back has its condition. */
function adopted(before: number | undefined, after: number | undefined): EventNote[] {
  if (before === undefined || after === undefined || after <= before) return [];
  const isForced = !isKept(before, after);
  const why = isForced ? `, because revision ${before} is no longer kept` : '';
  const note = `the control plane adopts release revision ${after} instead of ${before}${why}: the pods that it renders in another way are replaced`;
  return [{ type: isForced ? 'Warning' : 'Normal', reason: 'ReleaseAdopted', action: 'AdoptRelease', note }];
}

/** A first size is no growth, and a status whose size was lost has none. */
function grown(before: string | undefined, after: string | undefined): EventNote[] {
  if (before === undefined || after === undefined || !isMore(after, before)) return [];
  const note = `all volumes of etcd have grown from ${before} to ${after}`;
  return [{ type: 'Normal', reason: 'RequestedSizeChanged', action: 'EtcdVolumeAutoResize', note }];
}

function isLater(before: string | undefined, after: string | undefined): boolean {
  return after !== undefined && (before === undefined || Date.parse(after) > Date.parse(before));
}
