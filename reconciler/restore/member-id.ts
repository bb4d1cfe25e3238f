import { createHash } from 'node:crypto';

/**
 * The id that a member of a restored cluster has, in decimal: etcd derives it from where its peers reach the member and
 * from the token of the cluster.
 */
export function restoredMemberId(peerUrl: string, token: string): string {
  return createHash('sha1').update(`${peerUrl}${token}`).digest().readBigUInt64BE(0).toString();
}
