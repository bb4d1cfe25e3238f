import { z } from 'zod';

/**
 * Result of the verification of a backup. It is stored beside the backup, so that it survives the loss of any status.
 */
export const Verification = z.object({
  formatVersion: z.literal(1),
  /** When the verification ended. */
  time: z.iso.datetime(),
  /** Newest revision of the restored etcd. */
  revision: z.int().nonnegative(),
  /** From the first byte read until etcd serves. */
  restoreSeconds: z.number().nonnegative(),
});
export type Verification = z.output<typeof Verification>;
