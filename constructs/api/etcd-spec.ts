import { z } from 'zod';
import { Backup } from './backup-spec.ts';
import { FixedContainer } from './container-spec.ts';
import { pod } from './pod-spec.ts';
import { Quantity, quantityValue } from './quantity.ts';
import { Recovery, Restore } from './restore-spec.ts';
import { withRules } from './validation-rule.ts';

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
    maxVolumeSize: Quantity.optional().describe(
      'The volumes grow by themselves up to this size, 16Gi when unset. etcd advises against databases of more than 8Gi, which need twice that.',
    ),
    volumeRetention: z
      .enum(['Delete', 'Retain'])
      .default('Delete')
      .describe('What becomes of the volumes when the HostedControlPlane is deleted.'),
    backup: Backup.optional().describe('Snapshots to an S3 bucket; none when unset.'),
    restore: Restore.optional().describe(
      'Replaces all data by that of a backup, once. API servers are away meanwhile; the data there was is set aside on the volumes. A new control plane starts with it.',
    ),
    recovery: Recovery.optional().describe('What to do when so many members are lost that the others have no quorum.'),
    tools: FixedContainer.prefault({}).describe(
      "The image of etcd's own tools, of which etcdutl restores backups; gcr.io/etcd-development/etcd in the version of etcd when unset.",
    ),
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
