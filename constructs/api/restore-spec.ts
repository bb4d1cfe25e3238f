import { z } from 'zod';
import { namespaceName, objectName } from './object-name.ts';
import { textOf, withRules } from './validation-rule.ts';

/** `2026-11-21T09-15-31.123Z-4711`: the time at which the backup was taken, and its revision. */
const backupName = '[0-9]{4}(-[0-9]{2}){2}T([0-9]{2}-){2}[0-9]{2}[.][0-9]{3}Z-[0-9]{1,16}';

/** A file of another provider: `2026-11-21T20:15:00+01:00.etcd`. */
const bareSnapshotName = '[0-9A-Za-z][0-9A-Za-z:+._-]*[.]etcd';

const BackupId = textOf(
  `^(${backupName}|${bareSnapshotName})$`,
  64,
  'must be the name of a backup such as 2026-11-21T09-15-31.123Z-4711, or of a snapshot such as 2026-11-21T20:15:00+01:00.etcd',
);

/** Whether a name is that of a snapshot without a manifest, directly in the folder of a Cluster. */
export function isBareSnapshot(name: string): boolean {
  return name.length <= 64 && new RegExp(`^${bareSnapshotName}$`).test(name);
}

const From = z.object({
  namespace: namespaceName().describe('Namespace of the other Cluster.'),
  cluster: objectName(63).describe('Name of the other Cluster.'),
  identity: z
    .boolean()
    .default(false)
    .describe(
      'Also adopt the CAs and keys of that Cluster, so that its workers and kubeconfigs continue to work. Requires an encrypted backup, and a control plane that has no CAs of its own yet.',
    ),
});

const ways = ['backup', 'latest', 'before'] as const;
const chosen = ways.map((way) => `(has(self.${way}) ? 1 : 0)`).join(' + ');

/**
 * A restore runs once. It is a new restore when its fields have values that no restore of this control plane had before.
 */
export const Restore = withRules(
  z.object({
    backup: BackupId.optional().describe(
      'Name of the backup to restore, or the file name of a snapshot without a manifest, such as 2026-11-21T20:15:00+01:00.etcd, which another provider has stored directly in the folder of the Cluster.',
    ),
    latest: z
      .literal(true)
      .optional()
      .describe(
        'Restore the newest backup of this control plane that exists when the restore begins. Backups of another control plane of the same name are selected only if from is set, or if etcd has not formed yet.',
      ),
    before: z.iso
      .datetime({ offset: true })
      .optional()
      .describe(
        'Restore the newest backup of this control plane that was started before this time, with the same exceptions as latest.',
      ),
    from: From.optional().describe(
      'Restore a backup of another Cluster in the same bucket; of this Cluster when unset. If the backup is encrypted, it also contains the keys with which the Secrets of that Cluster are encrypted. If it is not, and that Cluster encrypts its Secrets, create its Secret <cluster>-encryption under the name of this Cluster before this Cluster starts; otherwise the Secrets cannot be read.',
    ),
    request: z
      .string()
      .max(128)
      .optional()
      .describe(
        'Any text. Set a new one to run a restore again: the same fields never run twice, even after another restore.',
      ),
  }),
  [
    {
      rule: `${chosen} == 1`,
      message: 'exactly one of backup, latest and before must be set, to select the backup to restore',
      holds: (restore) => ways.filter((way) => restore[way] !== undefined).length === 1,
    },
  ],
);
export type Restore = z.output<typeof Restore>;

/** The consent of a person to lose data. Without it, the operator does nothing when etcd has lost its quorum. */
export const Recovery = z.object({
  acceptDataLossTo: textOf(`^([0-9]{1,19}|${backupName})$`, 64, 'must be a revision or the name of a backup').describe(
    'Accepts the loss of all writes after this revision, which a member still has, or after this backup. Set it to a value that the condition EtcdClusterHealthy lists. It has no effect while etcd has a quorum.',
  ),
});
export type Recovery = z.output<typeof Recovery>;
