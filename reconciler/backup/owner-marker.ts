import { z } from 'zod';

/** Enough for every restore and move of a control plane's life; the newest are kept. */
const longestChain = 32;

const uid = z.string().regex(/^[0-9A-Za-z-]{1,64}$/, 'must be a uid');
const clusterId = z.string().regex(/^[0-9a-f]{1,16}$/, 'must be up to 16 hexadecimal digits');

/**
 * The owner of a backup, as an object beside the snapshot. The path of a folder contains only a name: a Cluster that is
 * deleted and created again, and a rebuilt one beside the original, have the same folder.
 */
export const OwnerMarker = z.object({
  /** Increased when a reader of this version would misinterpret a marker. New optional fields do not increase it. */
  formatVersion: z.literal(1),
  /** The HostedControlPlane that took the backup, and before it those of the same etcd: a move gives it a new uid. */
  uids: z.array(uid).min(1),
  /** IDs of its etcd clusters, newest first: every restore creates another one. */
  clusterIds: z.array(clusterId),
});
export type OwnerMarker = z.output<typeof OwnerMarker>;

/** The marker of a chain with another link. */
export function ownerMarker(
  { uids, clusterIds }: Pick<OwnerMarker, 'uids' | 'clusterIds'>,
  newestClusterId: string | undefined,
): OwnerMarker {
  const ids = newestClusterId === undefined ? clusterIds : [newestClusterId, ...clusterIds];
  const chain = <T>(links: readonly T[]): T[] => [...new Set(links)].slice(0, longestChain);
  return { formatVersion: 1, uids: chain(uids), clusterIds: chain(ids) };
}

/** The name contains the uid, so that a list shows whose backup it is. */
export function markerObject(owner: string): string {
  return `owner-${owner}.json`;
}

/** The uid in the name of a marker; undefined for other objects. */
export function markedOwner(object: string): string | undefined {
  return /^owner-([0-9A-Za-z-]{1,64})\.json$/.exec(object)?.[1];
}

/** @throws if it is not a marker, or of a newer format */
export function parseOwnerMarker(text: string): OwnerMarker {
  return OwnerMarker.parse(JSON.parse(text));
}
