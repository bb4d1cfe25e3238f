import { z } from 'zod';
import { pod } from './pod-spec.ts';
import { Quantity, quantityValue } from './quantity.ts';
import { withRules } from './validation-rule.ts';

/** One cron field: `*`, numbers, ranges and steps, as a comma-separated list. */
const cronField = (value: string) => {
  const item = `(\\*|(${value})(-(${value}))?)(/[1-9][0-9]?)?`;
  return `${item}(,${item})*`;
};

const schedulePattern = new RegExp(
  `^(@daily|${['[0-5]?[0-9]', '1?[0-9]|2[0-3]', '[1-9]|[12][0-9]|3[01]', '[1-9]|1[0-2]', '[0-6]']
    .map(cronField)
    .join(' ')})$`,
);

const secretKey = (defaultKey: string, holds: string) =>
  z.string().min(1).max(253).default(defaultKey).describe(`Key of the Secret that holds ${holds}.`);

const Backup = z.object({
  schedule: z
    .string()
    .max(256)
    .regex(schedulePattern, 'must be @daily or five cron fields such as "30 2 * * *"')
    .describe(
      'When a snapshot is taken: five cron fields in UTC, or @daily for a time of the night that differs from cluster to cluster.',
    ),
  secret: z
    .object({
      name: z.string().min(1).max(253).describe('Name of the Secret.'),
      namespace: z
        .string()
        .max(63)
        .optional()
        .describe(
          'Namespace of the Secret. The one of the HostedControlPlane when unset; another one has to grant access by a label on the Secret.',
        ),
      accessKeyIDKey: secretKey('accessKeyID', 'the access key id'),
      secretAccessKeyKey: secretKey('secretAccessKey', 'the secret access key'),
      hostKey: secretKey('host', 'the host[:port] of the S3 service; AWS when the Secret has no such key'),
      regionKey: secretKey('region', 'the region'),
      bucketKey: secretKey('bucket', 'the bucket, with an optional prefix as in bucket/prefix'),
    })
    .describe('Secret with the address of the bucket and the credentials for it.'),
});

/** The etcd of one hosted control plane. */
export const Etcd = withRules(
  z.object({
    ...pod,
    replicas: z
      .literal([1, 3, 5])
      .default(3)
      .describe('Number of members. An even number would tolerate no more failures than one member less.'),
    version: z
      .string()
      .max(32)
      .regex(/^v?3\.[0-9]{1,3}\.[0-9]{1,3}(-[0-9]{1,3})?$/, 'must be an etcd version such as 3.6.16')
      .optional()
      .describe(
        'Version of etcd, such as 3.6.16. When unset the version goes with the Kubernetes minor; an upgrade of the provider never changes it.',
      ),
    storageClassName: z
      .string()
      .min(1)
      .max(253)
      .optional()
      .describe('StorageClass of the volumes; the default class of the management cluster when unset.'),
    volumeSize: Quantity.optional().describe('Size of the volume of each member; only with autoGrow: false.'),
    autoGrow: z
      .boolean()
      .default(true)
      .describe('Let the volumes start small and grow before they are full. With false, volumeSize is used as given.'),
    volumeRetention: z
      .enum(['Delete', 'Retain'])
      .default('Delete')
      .describe('What becomes of the volumes when the HostedControlPlane is deleted.'),
    backup: Backup.optional().describe('Snapshots to an S3 bucket; none when unset.'),
  }),
  [
    {
      rule: '(has(self.autoGrow) && !self.autoGrow) || !has(self.volumeSize) || !quantity(string(self.volumeSize)).isGreaterThan(quantity("0"))',
      message: 'volumeSize cannot be combined with autoGrow: remove volumeSize or set autoGrow: false',
      holds: (etcd) => !etcd.autoGrow || sizeOf(etcd) <= 0,
    },
    {
      rule: '!has(self.autoGrow) || self.autoGrow || (has(self.volumeSize) && quantity(string(self.volumeSize)).isGreaterThan(quantity("0")))',
      message: 'autoGrow: false needs a size: set volumeSize, for example 8Gi',
      holds: (etcd) => etcd.autoGrow || sizeOf(etcd) > 0,
    },
  ],
);
export type Etcd = z.output<typeof Etcd>;

const sizeOf = (etcd: { volumeSize?: string | undefined }) =>
  etcd.volumeSize === undefined ? 0 : quantityValue(etcd.volumeSize);
