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
    path: z.string().min(1).max(1024).describe('Absolute path in the container the files appear under.'),
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
