import { z } from 'zod';
import { dataKey, objectName } from './object-name.ts';
import { withRules } from './validation-rule.ts';

/** No part of it is `..` or begins with that, as the API server requires of the files in a volume. */
const relativePath = /^([^/:.]|\.[^/:.])[^/:]*(\/([^/:.]|\.[^/:.])[^/:]*)*$/;

const items = z
  .array(
    z
      .object({
        key: dataKey().describe('Key of the ConfigMap or Secret.'),
        path: z
          .string()
          .max(1024)
          .regex(relativePath, 'must be a relative path without .. and colons')
          .describe('Relative path of the file below the mount.'),
        mode: z.int32().min(0).max(511).optional().describe('Permission bits of the file, such as 256 for 0400.'),
      })
      .describe('One key and its file.'),
  )
  .max(256)
  .optional()
  .describe('Keys to mount; every key with its own name when unset.');

const defaultMode = z
  .int32()
  .min(0)
  .max(511)
  .optional()
  .describe('Permission bits of files without mode; 420, which is 0644, when unset.');

const optional = z
  .boolean()
  .optional()
  .describe('Start the pod even if the ConfigMap, the Secret or a key of it is missing.');

/** One ConfigMap or Secret mounted into the API server. */
export const Mount = withRules(
  z.object({
    path: z
      .string()
      .max(1024)
      .regex(/^\/[^:]+$/, 'must be an absolute path without colon')
      .describe('Absolute path of the directory in the container.'),
    configMap: z
      .object({
        name: objectName().describe('Name of the ConfigMap, in the namespace of the HostedControlPlane.'),
        items,
        defaultMode,
        optional,
      })
      .optional()
      .describe('Mount this ConfigMap.'),
    secret: z
      .object({
        secretName: objectName().describe('Name of the Secret, in the namespace of the HostedControlPlane.'),
        items,
        defaultMode,
        optional,
      })
      .optional()
      .describe('Mount this Secret.'),
  }),
  [
    {
      rule: 'has(self.configMap) != has(self.secret)',
      message: 'a mount has exactly one source: set either configMap or secret',
      holds: (mount) => (mount.configMap === undefined) !== (mount.secret === undefined),
    },
  ],
);
export type Mount = z.output<typeof Mount>;

const mountName = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$';

/** Mounts by name. Their names become volume names with a prefix, so they must be shorter than a label. */
export const Mounts = withRules(
  z.record(z.string().max(63), Mount.describe('One ConfigMap or Secret and its path.')).meta({
    maxProperties: 32,
  }),
  [
    {
      rule: `self.all(name, size(name) <= 57 && name.matches('${mountName}'))`,
      message:
        'the name of a mount must consist of at most 57 lower-case letters, digits and dashes, and start and end with a letter or digit: rename the mount',
      holds: (mounts) => Object.keys(mounts).every((name) => name.length <= 57 && new RegExp(mountName).test(name)),
    },
    {
      rule: 'self.all(name, self.exists_one(other, self[other].path == self[name].path))',
      message: 'two mounts have the same path: give each mount its own path',
      holds: (mounts) => new Set(Object.values(mounts).map(({ path }) => path)).size === Object.keys(mounts).length,
    },
  ],
);
