import { z } from 'zod';

/**
 * The claim to the data of a backup, as an object beside the snapshot. After a move by `clusterctl` that was interrupted, two
 * HostedControlPlanes in two management clusters may have the same data. They share nothing but the bucket.
 */
const Claim = z.object({
  /** Increased when a reader of this version would misinterpret a claim. */
  formatVersion: z.literal(1),
  /** Of the HostedControlPlane that goes on with the data. */
  uid: z.string().regex(/^[0-9A-Za-z-]{1,64}$/, 'must be a uid'),
});
export type Claim = z.output<typeof Claim>;

export function serializeClaim(claim: Claim): string {
  return `${JSON.stringify(claim, undefined, 2)}\n`;
}

/** @throws if it is not a claim, or of a newer format */
export function parseClaim(text: string): Claim {
  return Claim.parse(JSON.parse(text));
}
