import { createHash } from 'node:crypto';

/**
 * The ID of a member of a restored cluster, in decimal. etcd derives it from the member's peer URL and the token of the
 * cluster.
 */
export function restoredMemberId(peerUrl: string, token: string): string {
  return createHash('sha1').update(`${peerUrl}${token}`).digest().readBigUInt64BE(0).toString();
}
