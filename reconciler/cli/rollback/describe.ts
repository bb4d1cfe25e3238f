import { minorOf } from '../../../constructs/cluster/versions.ts';
import { changeCause } from '../../backup/causes.ts';
import { backupId } from '../../../constructs/cluster/backup-names.ts';
import type { KeyChanges } from '../../etcd/key-changes.ts';
import { spanText } from '../format.ts';
import type { DescribedBackup, RollbackVersions } from './plan-rollback.ts';

/** What a way back loses: the changes of each resource, or why they are unknown. */
export type Loss = ReadonlyMap<string, KeyChanges> | string;

/** What a way back does, for the user who confirms it. */
export function describeRollback(
  cluster: string,
  { from, to, etcdFrom, etcdTo }: RollbackVersions,
  { backup, manifest }: DescribedBackup,
  loss: Loss,
  now: number,
): string[] {
  const ofEtcd = etcdFrom === undefined || etcdFrom === etcdTo ? '' : `, and from etcd ${etcdFrom} to ${etcdTo}`;
  const change = `Kubernetes 1.${minorOf(to)} to 1.${minorOf(from)}`;
  const reason = manifest.takenFor?.includes(changeCause(change)) ? ` for the change of ${change}` : '';
  const verified = backup.isVerified ? 'was verified' : 'was not verified';
  return [
    `${cluster} goes back from Kubernetes ${from} to ${to}${ofEtcd}.`,
    `Backup ${backupId(backup)} replaces all its data. It was taken ${spanText(now - backup.time)} ago${reason}, and ${verified}.`,
    ...describeLoss(loss),
    'The API server is unavailable meanwhile. The current data is set aside on the volumes; run hcp backup before to have it in the bucket, too.',
    `Kubernetes ${to} serves no kubelet of a later minor: replace the nodes that have one.`,
  ];
}

function describeLoss(loss: Loss): string[] {
  if (typeof loss === 'string')
    return [`Everything written since then will be lost. What that is cannot be counted: ${loss}.`];
  if (loss.size === 0) return ['No key of etcd has changed since then.'];
  return [
    'These changes of keys in etcd since then will be lost:',
    ...[...loss].map(([resource, changes]) => `  ${resource.replace('/registry/', '')}: ${changesText(changes)}`),
    'A key that was deleted and created again counts as both; one that was created and deleted since then does not count.',
  ];
}

function changesText({ changed, created, deleted }: KeyChanges): string {
  const parts = Object.entries({ changed, created, deleted }).flatMap(([what, count]) =>
    count > 0 ? [`${count} ${what}`] : [],
  );
  return parts.join(', ');
}
