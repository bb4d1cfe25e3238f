import type { Backup } from '../../constructs/api/backup-spec.ts';
import { type OpenEtcd, readyMembers } from '../etcd/access.ts';
import type { Clock } from '../kube/clock.ts';
import type { Reader } from '../clusters/management/view.ts';
import { serializeRecoveryBundle, recoveryBundleSecretNames } from './recovery-bundle.ts';
import type { Incarnation } from './ownership.ts';
import type { StoreReader } from './store/store-access.ts';
import type { BackupAttempt } from './take-backup.ts';

/** The control plane of a backup, and access to its objects. */
export interface BackupSubject {
  readonly namespace: string;
  /** Name of the Cluster. */
  readonly cluster: string;
  readonly incarnation: Incarnation;
  readonly kubernetesVersion: string;
  readonly hostedControlPlane: object;
  /** Missing if it was deleted before the control plane. The cluster can then not be rebuilt from the backup. */
  readonly clusterObject: object | undefined;
  readonly reader: Reader;
  readonly openEtcd: OpenEtcd;
  readonly clock: Clock;
  readonly storeReader: StoreReader;
}

/** Prepares a backup of a control plane in a management cluster. */
export function attemptFor(
  subject: BackupSubject,
  spec: Backup,
  reason: Pick<BackupAttempt, 'schedule' | 'causes' | 'lastKnown'>,
): BackupAttempt {
  const { namespace, cluster, reader, openEtcd } = subject;
  const etcd = { name: cluster, namespace };
  return {
    ...subject,
    ...reason,
    owner: { namespace, cluster },
    spec,
    members: readyMembers(etcd, reader),
    openEtcd: () => openEtcd(etcd, reader),
    bundle: () => bundleOf(subject),
  };
}

/** Reads the Secrets from the API server, because the watches may know the state before a rotation. */
async function bundleOf(subject: BackupSubject): Promise<string | undefined> {
  const { namespace, cluster, hostedControlPlane, clusterObject, storeReader } = subject;
  if (!clusterObject) return undefined;
  const found = await Promise.all(
    recoveryBundleSecretNames(cluster).map((name) => storeReader.secret({ namespace, name })),
  );
  const secrets = found.filter((secret) => secret !== undefined);
  return serializeRecoveryBundle({ hostedControlPlane, clusterObject, secrets });
}
