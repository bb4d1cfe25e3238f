import { z } from 'zod';

/** What a trial restore of a backup has shown, stored beside it so that it outlives every status. */
export const Verification = z.object({
  formatVersion: z.literal(1),
  /** When the trial ended. */
  time: z.iso.datetime(),
  /** Newest revision of the restored etcd. */
  revision: z.int().nonnegative(),
  /** From the first byte read to etcd serving. */
  restoreSeconds: z.number().nonnegative(),
});
export type Verification = z.output<typeof Verification>;
