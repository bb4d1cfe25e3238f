import type { EtcdCredentials } from '../../etcd/member-endpoint.ts';
import type { Clock } from '../../kube/clock.ts';
import type { ClusterBackups } from '../cluster-backups.ts';
import type { Manifest } from '../manifest.ts';
import type { BackupName } from '../names.ts';
import type { VerificationPod } from './pod.ts';

/** One trial, and what it needs. */
export interface VerificationTask {
  readonly cluster: { readonly name: string; readonly namespace: string };
  readonly backups: ClusterBackups;
  readonly backup: BackupName;
  readonly credentials: EtcdCredentials;
  /** Applies the pod that restores the backup of this manifest. */
  readonly createPod: (run: string, manifest: Manifest) => Promise<void>;
  /** The pod as the watches know it; undefined when there is none. */
  readonly pod: () => VerificationPod | undefined;
  readonly clock: Clock;
}

/** How long etcd may take from the last byte of the snapshot: the tool writes it anew, at 10 MB/s on a slow disk. */
export function serveLimitMs(sizeBytes: number): number {
  return 10 * 60_000 + sizeBytes / 10_000;
}

/** The watches see a pod, so that a look costs nothing; the time of a restore is measured to this. */
export const lookMs = 200;
