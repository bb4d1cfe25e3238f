import { z } from 'zod';

/** How Secrets are stored in etcd. */
export const EncryptionAtRest = z.object({
  provider: z
    .enum(['secretbox', 'None'])
    .optional()
    .describe(
      'secretbox encrypts Secrets with a key that only the API servers and the operator have. None stores Secrets unencrypted. When unset, new control planes use secretbox, unless deployment.apiServer.args contains encryption-provider-config, and existing control planes do not change. A change rewrites every Secret.',
    ),
  rotation: z
    .string()
    .max(128)
    .optional()
    .describe(
      'Any text. Change it to replace the key: the operator rewrites every Secret with the new key before it removes the old key from the API servers. Old keys stay in the Secret <cluster>-encryption of the management cluster, so that older backups remain readable.',
    ),
});
export type EncryptionAtRest = z.output<typeof EncryptionAtRest>;
