import type { PodObject } from '../../../imports/kubernetes.ts';
import type { EtcdCredentials } from '../../etcd/etcd3-client.ts';
import type { Clock } from '../../kube/clock.ts';
import type { ClusterBackups } from '../cluster-backups.ts';
import type { Manifest } from '../manifest.ts';
import type { BackupName } from '../../../constructs/cluster/backup-names.ts';

/** One verification, with everything that it needs. */
export interface VerificationTask {
  readonly cluster: { readonly name: string; readonly namespace: string };
  readonly backups: ClusterBackups;
  readonly backup: BackupName;
  readonly credentials: EtcdCredentials;
  /** Applies the pod that restores the backup of this manifest. */
  readonly createPod: (run: string, manifest: Manifest) => Promise<void>;
  /** The pod as the watches know it; undefined if there is none. */
  readonly pod: () => PodObject | undefined;
  readonly clock: Clock;
}

/** How long etcd may take after the last byte of the snapshot: etcdutl rewrites it, at 10 MB/s on a slow disk. */
export function serveLimitMs(sizeBytes: number): number {
  return 10 * 60_000 + sizeBytes / 10_000;
}

/**
 * Interval for checks of the pod. The watches know the pod, so a check costs nothing. It is the precision of the
 * measured restore time.
 */
export const pollMs = 200;
