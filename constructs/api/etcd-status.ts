import { z } from 'zod';

const time = () => z.iso.datetime({ offset: true });
const backupName = () => z.string().max(64);

const Member = z
  .object({
    name: z.string().min(1).max(253).describe('Name of the member and of its pod.'),
    id: z.string().max(16).optional().describe("etcd's id of the member, in hexadecimal digits as etcdctl prints it."),
    role: z
      .enum(['Leader', 'Follower', 'Learner', 'Unreachable', 'Lost', 'Missing'])
      .describe('Learner: joins, without a vote yet. Lost: registered, its data gone. Missing: not registered yet.'),
    version: z.string().max(32).optional().describe('Version it runs.'),
  })
  .describe('One member.');

const Backups = z.object({
  lastBackup: backupName().optional().describe('The newest backup in the bucket.'),
  lastRequest: z
    .string()
    .max(256)
    .optional()
    .describe('The annotation controlplane.cluster.x-k8s.io/backup for which a backup was taken last.'),
  versionChanges: z
    .array(z.string().max(64).describe('A change of a minor version, such as `Kubernetes 1.35 to 1.36`.'))
    .max(4)
    .optional()
    .describe('Changes of version that are going on, and for which a backup was taken.'),
  lastAttemptTime: time().optional().describe('When a backup was last tried.'),
  sizeBytes: z.int().min(0).optional().describe('Size of the newest backup before encryption.'),
});

const Restored = z.object({
  request: z.string().max(64).describe('Which restore: a digest of spec.etcd.restore.'),
  backup: backupName().optional().describe('The backup it chose.'),
  startTime: time().describe('When it began.'),
  completionTime: time().optional().describe('When the API servers were let in again; missing while it runs.'),
  step: z.string().max(64).optional().describe('What is being done.'),
  restoredTo: z.string().max(32).optional().describe('Revision of the backup. What was written later is gone.'),
});

/** What is known of etcd. Everything but `restore` is found out again when it is lost. */
export const EtcdStatus = z
  .object({
    clusterID: z
      .string()
      .max(16)
      .optional()
      .describe('Id of the etcd cluster, in hexadecimal digits. Once it is set, no member starts an empty cluster.'),
    members: z
      .array(Member)
      .max(16)
      .optional()
      .meta({
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
        description: 'Members there are, and those that should be.',
      }),
    backup: Backups.optional().describe('Backups in the bucket.'),
    lastVerifiedBackup: z
      .object({
        name: backupName().describe('The backup.'),
        time: time().describe('When the trial ended.'),
        restoreSeconds: z.int32().min(0).describe('How long it took until etcd served the backup, rounded up.'),
      })
      .optional()
      .describe('The newest backup that was restored for a trial with success.'),
    restore: Restored.optional().describe('The newest restore.'),
  })
  .describe('The etcd of this control plane.');
export type EtcdStatus = z.output<typeof EtcdStatus>;
