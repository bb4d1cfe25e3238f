import { z } from 'zod';

/** How Secrets are stored in etcd. */
export const EncryptionAtRest = z.object({
  provider: z
    .enum(['secretbox', 'None'])
    .optional()
    .describe(
      'secretbox encrypts Secrets with a key that only the API servers and we have; None stores them in clear. When unset, new control planes get secretbox and others stay as they are. Changing it rewrites every Secret.',
    ),
  rotation: z
    .string()
    .max(128)
    .optional()
    .describe('Any text. Change it to replace the key: every Secret is written anew before the old key goes.'),
});
export type EncryptionAtRest = z.output<typeof EncryptionAtRest>;
