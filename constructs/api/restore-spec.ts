import { z } from 'zod';
import { withRules } from './validation-rule.ts';

/** `2026-11-21T09-15-31.123Z-4711`: when it was taken, and its revision. */
const backupName = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}\.\d{3}Z-\d{1,16}$/;

const BackupId = z
  .string()
  .max(64)
  .regex(backupName, 'must be the name of a backup such as 2026-11-21T09-15-31.123Z-4711');

const From = z.object({
  namespace: z.string().min(1).max(63).describe('Namespace that Cluster had.'),
  cluster: z.string().min(1).max(63).describe('Name of that Cluster.'),
  identity: z
    .boolean()
    .default(false)
    .describe(
      'Take over its certificate authorities and keys too, so that its workers and kubeconfigs go on. Needs an encrypted backup, and a control plane that has no authorities of its own yet.',
    ),
});

const ways = ['backup', 'latest', 'before'] as const;
const chosen = ways.map((way) => `(has(self.${way}) ? 1 : 0)`).join(' + ');

/** A restore, which runs once: it is the same one until a field of it changes. */
export const Restore = withRules(
  z.object({
    backup: BackupId.optional().describe('This backup.'),
    latest: z.literal(true).optional().describe('The newest backup there is when the restore begins.'),
    before: z.iso.datetime({ offset: true }).optional().describe('The newest backup that was begun before this time.'),
    from: From.optional().describe(
      'A backup of another Cluster in the same bucket; this Cluster when unset. The keys that its Secrets are encrypted with are taken from the backup when that is encrypted itself. Otherwise Secrets of a Cluster that encrypts them can be read only with its Secret <cluster>-encryption, which the user then has to restore as that of this Cluster before this one starts.',
    ),
    request: z.string().max(128).optional().describe('Any text. Change it to run once more what ran already.'),
  }),
  [
    {
      rule: `${chosen} == 1`,
      message: 'say which backup to restore: set exactly one of backup, latest and before',
      holds: (restore) => ways.filter((way) => restore[way] !== undefined).length === 1,
    },
  ],
);
export type Restore = z.output<typeof Restore>;

/** The word of a person that data may be lost, without which nothing is done when a quorum of etcd is gone. */
export const Recovery = z.object({
  acceptDataLossTo: z
    .string()
    .min(1)
    .max(64)
    .regex(
      /^\d{1,19}$|^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}\.\d{3}Z-\d{1,16}$/,
      'must be a revision or the name of a backup',
    )
    .describe(
      'What may be lost: everything after this revision, which a member still has, or everything after this backup. The condition EtcdClusterHealthy names both. Without effect while etcd has a quorum.',
    ),
});
export type Recovery = z.output<typeof Recovery>;
