import { createHash } from 'node:crypto';
import { initialClusterToken } from '../../constructs/control-plane/etcd/config.ts';
import { etcdPeerUrl } from './member-objects.ts';

/**
 * The ID of a member that a cluster has from its start, in decimal. etcd derives it from the member's peer URL and the
 * token of the cluster.
 */
export function firstMemberId(peerUrl: string, token: string): string {
  return hash(Buffer.from(`${peerUrl}${token}`)).toString();
}

/**
 * The IDs, in hexadecimal digits, of etcd clusters of one, three or five members that start with empty volumes. etcd
 * derives them from its members, so that every cluster of a name has the same ones; a restored cluster has a token of
 * its own, and thereby an ID that exists once.
 */
export function foundedClusterIds(cluster: { readonly name: string; readonly namespace: string }): readonly string[] {
  return [1, 3, 5].map((count) => {
    const ids = Array.from({ length: count }, (_, ordinal) =>
      BigInt(firstMemberId(etcdPeerUrl(cluster, ordinal), initialClusterToken(cluster))),
    ).toSorted((one, other) => (one < other ? -1 : 1));
    const bytes = Buffer.alloc(8 * count);
    for (const [index, id] of ids.entries()) bytes.writeBigUInt64BE(id, 8 * index);
    return hash(bytes).toString(16);
  });
}

function hash(content: Buffer): bigint {
  return createHash('sha1').update(content).digest().readBigUInt64BE(0);
}
