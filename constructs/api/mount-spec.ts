import { z } from 'zod';
import { withRules } from './validation-rule.ts';

const items = z
  .array(
    z
      .object({
        key: z.string().describe('Key of the source.'),
        path: z.string().describe('Relative path of the file below the mount.'),
        mode: z.int32().min(0).max(511).optional().describe('Permission bits of the file, such as 256 for 0400.'),
      })
      .describe('One key and the file it becomes.'),
  )
  .optional()
  .describe('Keys to mount; every key under its own name when unset.');

const defaultMode = z
  .int32()
  .min(0)
  .max(511)
  .optional()
  .describe('Permission bits of files that have no mode of their own. 420, that is 0644, when unset.');

const optional = z.boolean().optional().describe('Start the pod even if the source or a key is missing.');

/** One ConfigMap or Secret mounted into the API server. */
export const Mount = withRules(
  z.object({
    path: z
      .string()
      .max(1024)
      .regex(/^\/[^:]+$/, 'must be an absolute path without colon')
      .describe('Absolute path in the container the files appear under.'),
    configMap: z
      .object({
        name: z.string().min(1).max(253).describe('Name of the ConfigMap, in the namespace of the HostedControlPlane.'),
        items,
        defaultMode,
        optional,
      })
      .optional()
      .describe('Mount this ConfigMap.'),
    secret: z
      .object({
        secretName: z
          .string()
          .min(1)
          .max(253)
          .describe('Name of the Secret, in the namespace of the HostedControlPlane.'),
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

/** Mounts by name. Names become volume names behind a prefix, so they are shorter than a label may be. */
export const Mounts = withRules(
  z.record(z.string().max(63), Mount.describe('One ConfigMap or Secret and where it appears.')).meta({
    maxProperties: 32,
  }),
  [
    {
      rule: `self.all(name, size(name) <= 57 && name.matches('${mountName}'))`,
      message: 'names of mounts have lower-case letters, digits and dashes, at most 57 of them: rename the mount',
      holds: (mounts) => Object.keys(mounts).every((name) => name.length <= 57 && new RegExp(mountName).test(name)),
    },
    {
      rule: 'self.all(name, self.exists_one(other, self[other].path == self[name].path))',
      message: 'two mounts have the same path: give each its own',
      holds: (mounts) => new Set(Object.values(mounts).map(({ path }) => path)).size === Object.keys(mounts).length,
    },
  ],
);
