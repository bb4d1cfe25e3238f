import { settleAll } from '../kube/concurrency.ts';
import type { ClusterBackups, StoredBackup } from './cluster-backups.ts';
import type { BackupName } from '../../constructs/cluster/backup-names.ts';
import { newestFirst } from './order.ts';
import { type OwnerMarker, ownerMarker } from './owner-marker.ts';
import { type Incarnation, isContinued, isOver, isOwnUnmarked } from './ownership.ts';
import { StoreError } from './store/store-error.ts';

/** The backups in the folder of a cluster, divided by their owners. All lists are sorted newest first. */
export interface FolderContent {
  readonly own: readonly StoredBackup[];
  /** Of predecessors, or of another control plane that writes into the same folder. */
  readonly foreign: readonly StoredBackup[];
  /** Uploads that did not end, except those of others. */
  readonly unfinished: readonly BackupName[];
  /** For its next backup. */
  readonly marker: OwnerMarker;
}

/** How many markers of other owners are read to find out whether they are earlier objects for the same etcd. */
const ownersRead = 16;

const requestsAtOnce = 8;

/**
 * Lists a folder and divides it. The list shows the owners' uids, so that it reads one marker for each owner, and the
 * manifests of backups that an earlier release took.
 */
export async function readFolder(
  backups: ClusterBackups,
  incarnation: Incarnation,
  signal?: AbortSignal,
): Promise<FolderContent> {
  const { backups: listed, unfinished } = await backups.list(signal);
  const chain = await chainOf(backups, listed, incarnation, signal);
  const unmarked = await ownUnmarked(backups, listed, incarnation, signal);
  const isOwn = (backup: StoredBackup): boolean =>
    backup.owner === undefined ? unmarked.has(backup) : chain.uids.includes(backup.owner);
  return {
    own: newestFirst(listed.filter(isOwn), chain.uids),
    foreign: listed.filter((backup) => !isOwn(backup)),
    unfinished: unfinished.filter(({ owner }) => owner === undefined || chain.uids.includes(owner)),
    marker: ownerMarker(chain, incarnation.clusterId),
  };
}

/** The uids and cluster IDs of the incarnation, and of earlier objects for the same etcd that write no more. */
async function chainOf(
  backups: ClusterBackups,
  listed: readonly StoredBackup[],
  incarnation: Incarnation,
  signal: AbortSignal | undefined,
): Promise<Pick<OwnerMarker, 'uids' | 'clusterIds'>> {
  const newestOfEach = new Map<string, StoredBackup>();
  for (const backup of listed)
    if (backup.owner !== undefined && !newestOfEach.has(backup.owner)) newestOfEach.set(backup.owner, backup);
  const own = newestOfEach.get(incarnation.uid);
  let chain: Pick<OwnerMarker, 'uids' | 'clusterIds'> = { uids: [incarnation.uid], clusterIds: [] };
  const add = ({ uids, clusterIds }: OwnerMarker): void => {
    chain = { uids: [...chain.uids, ...uids], clusterIds: [...chain.clusterIds, ...clusterIds] };
  };
  if (own) add((await readMarker(backups, own, signal)) ?? ownerMarker(chain, undefined));
  const before = [...newestOfEach.values()].filter((newest) => newest !== own && isOver(newest, incarnation));
  for (const backup of before.slice(0, ownersRead)) {
    if (backup.owner === undefined || chain.uids.includes(backup.owner)) continue;
    const marker = await readMarker(backups, backup, signal);
    if (marker && isContinued(marker, incarnation, backups.owner)) add(marker);
  }
  const areOver = new Set([incarnation.uid, ...before.flatMap(({ owner }) => owner ?? [])]);
  return { ...chain, uids: chain.uids.filter((uid) => areOver.has(uid)) };
}

async function ownUnmarked(
  backups: ClusterBackups,
  listed: readonly StoredBackup[],
  incarnation: Incarnation,
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<StoredBackup>> {
  const candidates = listed.filter(({ owner, time }) => owner === undefined && time >= incarnation.createdAt);
  const found = await settleAll(candidates, requestsAtOnce, async (backup) => {
    const manifest = await backups.manifest(backup, signal).catch(unreadable);
    return manifest && isOwnUnmarked(manifest, backup, incarnation, backups.owner) ? [backup] : [];
  });
  return new Set(
    found.flatMap((outcome) => {
      if (outcome.status === 'rejected') throw outcome.reason;
      return outcome.value;
    }),
  );
}

async function readMarker(
  backups: ClusterBackups,
  backup: StoredBackup,
  signal: AbortSignal | undefined,
): Promise<OwnerMarker | undefined> {
  return backups.marker(backup, signal).catch(unreadable);
}

/** What cannot be read proves nothing: the backup counts as foreign, and is kept. An error of the store is rethrown. */
export function unreadable(error: unknown): undefined {
  if (error instanceof StoreError && error.reason !== 'ObjectNotFound') throw error;
}
