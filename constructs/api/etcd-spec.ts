import { z } from 'zod';
import { Backup } from './backup-spec.ts';
import { argumentsOf, FixedContainer, Image } from './container-spec.ts';
import { objectName } from './object-name.ts';
import { nodeTopology, type Overlay } from './overlay-spec.ts';
import { pod } from './pod-spec.ts';
import { isMore, Quantity, quantityValue } from './quantity.ts';
import { Recovery, Restore } from './restore-spec.ts';
import { textOf, type ValidationRule, withRules } from './validation-rule.ts';

/** Settings of the pods of etcd, wherever they are described. */
export const etcdPod = {
  ...pod,
  args: argumentsOf('etcd').describe(
    'Settings of etcd, by the name of the flag without the leading dashes. They take precedence over the settings of the operator, except for identity, addresses, TLS and data directories, which cannot be set.',
  ),
};

/** Rules of the pods of etcd, wherever they are described. */
export const etcdPodRules: readonly ValidationRule<Pick<Overlay, 'env' | 'topologySpreadConstraints'>>[] = [
  {
    rule: "!has(self.env) || !self.env.exists(one, one.name.startsWith('ETCD_'))",
    message: 'etcd ignores variables that begin with ETCD_ when it has a configuration file: use args',
    fieldPath: '.env',
    holds: ({ env = [] }) => env.every(({ name }) => !name.startsWith('ETCD_')),
  },
  {
    rule: `!has(self.topologySpreadConstraints) || !self.topologySpreadConstraints.exists(one, one.topologyKey == '${nodeTopology}')`,
    message: `etcd members run on different nodes, because the loss of one node must not take the quorum: remove the constraint with topologyKey ${nodeTopology}`,
    fieldPath: '.topologySpreadConstraints',
    holds: ({ topologySpreadConstraints = [] }) =>
      topologySpreadConstraints.every(({ topologyKey }) => topologyKey !== nodeTopology),
  },
];

/** Size up to which the operator expands volumes by default: enough for the largest database that etcd recommends. */
export const defaultMaxVolumeSize = '16Gi';
const quotaArgument = 'quota-backend-bytes';

const taggedVersion = '^v?3[.][0-9]+[.][0-9]+';

/** CEL: compares a size with 0. Both are true of a text that is no quantity, about which another rule has the sentence. */
const compared = (size: string, way: string) =>
  `(!isQuantity(string(${size})) || ${way}quantity(string(${size})).isGreaterThan(quantity("0")))`;
const isMoreThanNothing = (size: string) => compared(size, '');
const isNothing = (size: string) => compared(size, '!');

/** The etcd of one hosted control plane. */
export const Etcd = withRules(
  z.object({
    ...etcdPod,
    replicas: z
      .literal([1, 3, 5])
      .default(3)
      .describe('Number of members. An even number would tolerate no more failures than the next lower odd number.'),
    image: Image.extend({
      tag: z
        .string()
        .max(128)
        .regex(/^[^ \t\r\n]+$/, 'must not be empty, and contains no spaces')
        .optional()
        .describe(
          'Tag, used without changes. If it begins with a version, such as 3.6.16-hardened, this is the version.',
        ),
    })
      .optional()
      .describe('Replaces parts of the image reference. Unset parts keep their default.'),
    version: textOf('^v?3([.][0-9]{1,3}){2}(-[0-9]{1,3})?$', 32, 'must be an etcd version such as 3.6.16')
      .optional()
      .describe(
        'Version of etcd, such as 3.6.16. When unset, it is the version of image.tag, else it depends on the Kubernetes minor; an upgrade of the operator never changes it.',
      ),
    storageClassName: objectName()
      .optional()
      .describe('StorageClass of the volumes; the default class of the management cluster when unset.'),
    volumeSize: Quantity.optional().describe('Size of the volume of each member. Only valid with autoGrow: false.'),
    autoGrow: z
      .boolean()
      .default(true)
      .describe(
        'Start with small volumes and expand them before they are full. If false, every volume has the size volumeSize.',
      ),
    maxVolumeSize: Quantity.optional().describe(
      `Size up to which the operator expands the volumes; ${defaultMaxVolumeSize} when unset. etcd recommends databases of at most 8Gi, which need volumes of twice that size.`,
    ),
    volumeRetention: z
      .enum(['Delete', 'Retain'])
      .default('Delete')
      .describe(
        'Whether the volumes are deleted or retained when the HostedControlPlane is deleted. With them stay the Secrets of its CAs, of its service account key and of its encryption keys. A HostedControlPlane that is created for the same Cluster name continues with all of them.',
      ),
    backup: Backup.optional().describe('Backups to an S3 bucket; none when unset.'),
    restore: Restore.optional().describe(
      'Replaces all data once with the data of a backup. The API servers do not run meanwhile, and the previous data is set aside on the volumes. A new control plane starts with the data of the backup.',
    ),
    recovery: Recovery.optional().describe(
      'Recovery after so many members are lost that the remaining ones have no quorum.',
    ),
    tools: FixedContainer.prefault({}).describe(
      'Image with the tools of etcd; its etcdutl restores backups. gcr.io/etcd-development/etcd in the version of etcd when unset.',
    ),
  }),
  [
    {
      rule: `!has(self.maxVolumeSize) || ${isMoreThanNothing('self.maxVolumeSize')}`,
      message: 'maxVolumeSize must be more than 0: set it to for example 16Gi, or remove it',
      fieldPath: '.maxVolumeSize',
      holds: ({ maxVolumeSize = '1' }) => isMore(maxVolumeSize, '0'),
    },
    {
      rule: `!has(self.version) || !has(self.image) || !has(self.image.tag) || !self.image.tag.matches('${taggedVersion}') || self.image.tag.split('.')[1] == self.version.split('.')[1]`,
      message:
        'version and image.tag name different minors of etcd: remove version, because the version is read from the tag, or set both to the same minor',
      fieldPath: '.version',
      holds: ({ version, image }) =>
        version === undefined ||
        !new RegExp(taggedVersion).test(image?.tag ?? '') ||
        version.split('.')[1] === image?.tag?.split('.')[1],
    },
    {
      rule: `(has(self.autoGrow) && !self.autoGrow) || !has(self.volumeSize) || ${isNothing('self.volumeSize')}`,
      message: 'volumeSize cannot be combined with autoGrow: remove volumeSize, or set autoGrow: false',
      holds: (etcd) => !etcd.autoGrow || sizeOf(etcd) <= 0,
    },
    {
      rule: `!has(self.autoGrow) || self.autoGrow || (has(self.volumeSize) && ${isMoreThanNothing('self.volumeSize')})`,
      message: 'autoGrow: false needs a size: set volumeSize, for example 8Gi',
      holds: (etcd) => etcd.autoGrow || sizeOf(etcd) > 0,
    },
    {
      rule: `!has(self.args) || !('${quotaArgument}' in self.args) || !self.args['${quotaArgument}'].matches('^[0-9]{1,18}$') || (has(self.volumeSize) && !isQuantity(string(self.volumeSize))) || (has(self.maxVolumeSize) && !isQuantity(string(self.maxVolumeSize))) || quantity(self.args['${quotaArgument}']).add(quantity(self.args['${quotaArgument}'])).compareTo(has(self.volumeSize) && has(self.autoGrow) && !self.autoGrow ? quantity(string(self.volumeSize)) : (has(self.maxVolumeSize) ? quantity(string(self.maxVolumeSize)) : quantity('${defaultMaxVolumeSize}'))) <= 0`,
      message: `argument ${quotaArgument}: must be at most half of the volume, because its snapshots and log need the rest: lower it, or raise volumeSize with autoGrow: false, otherwise maxVolumeSize, which is ${defaultMaxVolumeSize} when unset`,
      fieldPath: '.args',
      holds: ({ args, volumeSize = '0', autoGrow, maxVolumeSize = defaultMaxVolumeSize }) => {
        const quota = args?.[quotaArgument] ?? '';
        const largest = quantityValue(autoGrow ? maxVolumeSize : volumeSize);
        return !/^[0-9]{1,18}$/.test(quota) || 2 * Number(quota) <= largest;
      },
    },
    ...etcdPodRules,
  ],
);
export type Etcd = z.output<typeof Etcd>;

const sizeOf = (etcd: { volumeSize?: string | undefined }) =>
  etcd.volumeSize === undefined ? 0 : quantityValue(etcd.volumeSize);
