import { z } from 'zod';

/** How Secrets are stored in etcd. */
export const EncryptionAtRest = z.object({
  provider: z
    .enum(['secretbox', 'None'])
    .optional()
    .describe(
      'secretbox encrypts Secrets with a key that only the API servers and we have; None stores them in clear. When unset, new control planes get secretbox, unless deployment.apiServer.args has an encryption-provider-config of yours, and others stay as they are. Changing it rewrites every Secret.',
    ),
  rotation: z
    .string()
    .max(128)
    .optional()
    .describe(
      'Any text. Change it to replace the key: every Secret is written anew before the old key goes. Old keys stay in the Secret <cluster>-encryption of the management cluster, for backups of their time, and no API server has them.',
    ),
});
export type EncryptionAtRest = z.output<typeof EncryptionAtRest>;
