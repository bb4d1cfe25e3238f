import { z } from 'zod';

const time = () => z.iso.datetime({ offset: true });
const backupName = () => z.string().max(64);

const Member = z
  .object({
    name: z.string().min(1).max(253).describe('Name of the member and of its pod.'),
    id: z.string().max(16).optional().describe('Member ID in hexadecimal digits, as etcdctl prints it.'),
    role: z
      .enum(['Leader', 'Follower', 'Learner', 'Unreachable', 'Lost', 'Missing'])
      .describe(
        'Role of the member. Learner: it joins and has no vote yet. Lost: it is registered, but its data is gone. Missing: it is not registered yet.',
      ),
    version: z.string().max(32).optional().describe('Version of etcd that the member runs.'),
  })
  .describe('One etcd member.');

const Backups = z.object({
  lastBackup: backupName().optional().describe('The newest backup in the bucket.'),
  lastRequest: z
    .string()
    .max(256)
    .optional()
    .describe(
      'Value of the annotation controlplane.cluster.x-k8s.io/backup for which the last backup on request was taken.',
    ),
  takenFor: z
    .array(z.string().max(64).describe('Such as `Kubernetes 1.35 to 1.36`, or `hibernation` and an identifier.'))
    .max(8)
    .optional()
    .describe('Steps in progress that wait for a backup of their own, and have it.'),
  versionChanges: z
    .array(z.string().max(64).describe('As in takenFor.'))
    .max(4)
    .optional()
    .describe('As takenFor, by earlier operators.'),
  lastAttemptTime: time().optional().describe('Time of the last attempt to take a backup.'),
  sizeBytes: z.int().min(0).optional().describe('Size of the newest backup before encryption.'),
});

/** The oldest ones are forgotten. */
export const mostEarlierRestores = 64;

const Restored = z.object({
  request: z.string().max(64).describe('Digest of spec.etcd.restore, which identifies the restore.'),
  backup: backupName().optional().describe('The backup that is restored.'),
  startTime: time().describe('Time at which the restore began.'),
  completionTime: time()
    .optional()
    .describe('Time at which the API servers could connect again. Unset while the restore runs.'),
  step: z.string().max(64).optional().describe('Current step of the restore.'),
  earlier: z
    .array(z.string().max(64).describe('Digest of a restore.'))
    .max(mostEarlierRestores)
    .optional()
    .describe('Digests of the restores that began before this one, the newest first. None of them runs again.'),
  restoredTo: z.string().max(32).optional().describe('Revision of the backup. Later writes are lost.'),
});

/** What the operator knows about etcd. It finds out everything but `restore` again when the status is lost. */
export const EtcdStatus = z
  .object({
    clusterID: z
      .string()
      .max(16)
      .optional()
      .describe('ID of the etcd cluster, in hexadecimal digits. Once it is set, no member starts an empty cluster.'),
    members: z
      .array(Member)
      .max(16)
      .optional()
      .meta({
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
        description: 'Members that exist and members that should exist.',
      }),
    quotaPercent: z
      .int32()
      .min(0)
      .max(100)
      .optional()
      .describe(
        'Percent of its quota that the largest database uses, without free space inside the file, in steps of five; lowered only by more than one step.',
      ),
    backup: Backups.optional().describe('State of the backups in the bucket.'),
    lastVerifiedBackup: z
      .object({
        name: backupName().describe('Name of the backup.'),
        time: time().describe('Time at which the verification ended.'),
        restoreSeconds: z.int32().min(0).describe('Seconds until etcd served the restored backup, rounded up.'),
      })
      .optional()
      .describe('The newest backup that passed verification.'),
    restore: Restored.optional().describe('The newest restore.'),
  })
  .describe('State of the etcd of this control plane.');
export type EtcdStatus = z.output<typeof EtcdStatus>;

/** The steps in progress for which the status says that a backup was taken. */
export function takenFor(known: EtcdStatus['backup'] | undefined): readonly string[] {
  // Operators of before there was takenFor wrote versionChanges.
  return known?.takenFor ?? known?.versionChanges ?? [];
}

/** Whether a restore has begun and not ended. */
export function isRestoring(status: Pick<Partial<EtcdStatus>, 'restore'> | undefined): boolean {
  return status?.restore !== undefined && status.restore.completionTime === undefined;
}
