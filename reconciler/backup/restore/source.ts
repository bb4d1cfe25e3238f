import { isDeepStrictEqual } from 'node:util';
import { etcdVersion } from '../../../constructs/cluster/versions.ts';
import { knownMembers, watchedMemberObjects } from '../../etcd/member-objects.ts';
import { choiceOf } from '../choose-backup.ts';
import { incarnationOf, ownerOf } from '../ownership.ts';
import { InvalidConfiguration } from '../../engine/outcome.ts';
import type { RestoreContext } from './restore-context.ts';
import { ownBackups, type StoredBackups } from '../with-backups.ts';
import type { RestoreSource } from './prepared-backup.ts';
import { isBegun, type Restoring } from './restoring.ts';

/** The message for a restore request without a bucket. */
export const placeMissing =
  'etcd.restore and etcd.recovery need the bucket with the backups: set etcd.backup with the Secret of the bucket';

/** The source of the restore. @throws InvalidConfiguration if no bucket is configured */
export function restoreSourceOf(
  { restored, cluster, hostedControlPlane, storeReader, reader, openEtcd, clock }: RestoreContext,
  { request, record }: Restoring,
): RestoreSource {
  const begunWith = isBegun(request, record) ? record?.backup : undefined;
  return {
    ...backupsOf({ cluster, storeReader }),
    owner: request.owner,
    incarnation: incarnationOf(hostedControlPlane),
    isNamed: request.isNamed,
    isOwn: isDeepStrictEqual(request.owner, ownerOf(cluster)),
    choice: begunWith === undefined ? request.choice : choiceOf({ backup: begunWith }),
    isContended: request.kind === 'move',
    reachableMembers: {
      known: knownMembers(cluster, watchedMemberObjects(cluster, reader)),
      openEtcd: () => openEtcd(cluster, reader),
      kubernetesVersion: cluster.spec.version,
    },
    etcdVersion: etcdVersion(restored),
    kubernetesVersion: hostedControlPlane.spec.version,
    clock,
  };
}

/** Its own backups. @throws InvalidConfiguration if no bucket is configured */
export function backupsOf(scope: Pick<RestoreContext, 'cluster' | 'storeReader'>): StoredBackups {
  const store = scope.cluster.spec.etcd.backup;
  if (!store) throw new InvalidConfiguration('BackupSecretInvalid', placeMissing);
  return ownBackups(scope, store);
}
