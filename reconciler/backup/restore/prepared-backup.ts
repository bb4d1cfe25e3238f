import type { ClusterBackups } from '../cluster-backups.ts';
import type { Manifest } from '../manifest.ts';
import type { Incarnation } from '../ownership.ts';
import type { StoredBackups } from '../with-backups.ts';
import type { Key } from '../../encryption-at-rest/configuration.ts';
import type { Clock } from '../../kube/clock.ts';
import type { ReachableMembers } from './newest-reachable-member.ts';
import type { RestoreChoice } from './request.ts';

/** A backup that can be restored. */
export interface PreparedBackup {
  /** Its name, as in the spec. */
  readonly backup: string;
  /** The snapshot as etcd sent it. */
  readonly snapshot: Pick<Manifest, 'sizeBytes' | 'sha256' | 'revision'>;
  /** Streams the snapshot. Only the end of the stream confirms that it is complete. */
  readonly read: (backups: ClusterBackups, signal: AbortSignal) => AsyncIterable<Uint8Array>;
  /**
   * Keys that encrypt its Secrets, if the recovery bundle contains them; none once they are among the keys of this
   * cluster. Never print them.
   */
  readonly encryptionKeys: readonly Key[];
}

/** What a restore reads: which backup, from which bucket, for which control plane. */
export interface RestoreSource extends StoredBackups {
  /** The owner is the Cluster that is restored, or an earlier one of the same name. */
  readonly isOwn: boolean;
  /** The control plane that is restored. */
  readonly incarnation: Incarnation;
  /** The user names the folder of the backup, instead of meaning this control plane's own. */
  readonly isNamed: boolean;
  readonly choice: RestoreChoice;
  /** Another HostedControlPlane may have the same data: only the one that the bucket names goes on with them. */
  readonly isContended: boolean;
  /** Source of data that no backup contains. */
  readonly reachableMembers: ReachableMembers;
  /** Version of etcd that will use the data. */
  readonly etcdVersion: string;
  /** Version of the API servers that will use the data. */
  readonly kubernetesVersion: string;
  readonly clock: Clock;
}
