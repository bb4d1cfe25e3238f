import { isDeepStrictEqual } from 'node:util';
import { etcdVersion } from '../../constructs/cluster/versions.ts';
import { openEtcd } from '../etcd/access.ts';
import { knownMembers, watchedMemberObjects } from '../etcd/member-objects.ts';
import { systemClock } from '../kube/clock.ts';
import { InvalidConfiguration } from '../engine/outcome.ts';
import type { RestoreContext } from './context.ts';
import type { RestoreSource } from './prepare.ts';
import { ownerOf } from './request.ts';
import { isBegun, type Restoring } from './restoring.ts';

/** Told where a restore is asked for and there is no bucket to take it from. */
export const placeMissing =
  'etcd.restore and etcd.recovery need a place for backups: set etcd.backup with the Secret of the bucket';

/** Which backup is meant, and where it lies. @throws InvalidConfiguration when there is no place for backups */
export function restoreSourceOf(
  { cluster, hostedControlPlane, storeReader, reader }: RestoreContext,
  { request, record }: Restoring,
): RestoreSource {
  const store = cluster.spec.etcd.backup;
  if (!store) {
    throw new InvalidConfiguration('BackupSecretInvalid', placeMissing);
  }
  const begunWith = isBegun(request, record) ? record?.backup : undefined;
  return {
    owner: request.owner,
    isOwn: isDeepStrictEqual(request.owner, ownerOf(cluster)),
    choice: begunWith === undefined ? request.choice : { kind: 'backup', id: begunWith },
    namespace: hostedControlPlane.metadata.namespace,
    store,
    storeReader,
    reachableMembers: {
      known: knownMembers(cluster, watchedMemberObjects(cluster, reader)),
      openEtcd: () => openEtcd(cluster, reader),
      kubernetesVersion: cluster.spec.version,
    },
    etcdVersion: etcdVersion(cluster.spec),
    clock: systemClock,
  };
}
