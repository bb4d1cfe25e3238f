import type { Backup } from '../../constructs/api/backup-spec.ts';
import type { WorkContext } from '../engine/tasks/background-work.ts';
import { type EtcdAccess, snapshotSource } from '../etcd/access.ts';
import type { KnownMember } from '../etcd/observe-members.ts';
import type { Clock } from '../kube/clock.ts';
import { messageOf } from '../kube/error-message.ts';
import { type BackupCause, satisfiedCauses } from './causes.ts';
import type { ClusterBackups, StoredBackup } from './cluster-backups.ts';
import type { Manifest } from './manifest.ts';
import { backupId, type BackupName, type BackupOwner } from '../../constructs/cluster/backup-names.ts';
import { type FolderContent, readFolder } from './own-backups.ts';
import { ownerMarker, type OwnerMarker } from './owner-marker.ts';
import { contemporary, type Incarnation } from './ownership.ts';
import { expiredBackups, retentionOf } from './retention.ts';
import { isBackupDue, type Schedule } from './schedule.ts';
import type { StoreReader } from './store/store-access.ts';
import { StoreError } from './store/store-error.ts';
import { mebibytes } from './upload/store-stream.ts';
import { withBackups } from './with-backups.ts';

/** One attempt at a backup, with everything that it needs. */
export interface BackupAttempt {
  readonly owner: BackupOwner;
  /** Its own backups count, and no others in the same folder. */
  readonly incarnation: Incarnation;
  readonly spec: Backup;
  /** Missing if only the causes count. */
  readonly schedule: Schedule | undefined;
  readonly causes: readonly BackupCause[];
  /** The newest backup that the status knows. */
  readonly lastKnown: BackupName | undefined;
  readonly kubernetesVersion: string;
  readonly members: readonly Pick<KnownMember, 'ordinal' | 'name' | 'peerUrl'>[];
  readonly openEtcd: () => EtcdAccess;
  readonly storeReader: StoreReader;
  /** Everything else that a rebuild needs, as text; called only if it will be encrypted. */
  readonly bundle: () => Promise<string | undefined>;
  readonly clock: Pick<Clock, 'now' | 'fault'>;
}

/** The result of a successful attempt. */
export interface BackupResult {
  /** ID of its newest backup in the store: the new one, or one that made it unnecessary. */
  readonly newest: string;
  readonly sizeBytes: number;
  /** The causes that have their backup. */
  readonly satisfied: readonly BackupCause[];
  /** Why expired backups still exist. */
  readonly retentionFault: string | undefined;
  /** The newest backup of another control plane that writes into the same folder. */
  readonly foreignWriter?: ForeignBackup | undefined;
}

/** A backup of another control plane. */
interface ForeignBackup {
  readonly name: string;
  /** Unknown if an earlier release took it. */
  readonly owner: string | undefined;
}

/** Uploads are aborted after this time. */
const longestUploadMs = 6 * 60 * 60_000;
/** The remains of uploads that began earlier are from a process that no longer exists. */
const leftoverMs = 4 * longestUploadMs;
/** Old backups are deleted for this time; the next backup goes on. */
const retentionMs = 10 * 60_000;
/** Number of manifests that are read to find out whether a cause has its backup. */
const manifestsRead = 20;

/**
 * Takes a backup, unless the store shows that it is no longer needed, because the remembered state may have been lost.
 * Then applies the retention policy.
 * @throws InvalidConfiguration for Secrets, StoreError for the store, and any other error for etcd
 */
export async function takeBackup(attempt: BackupAttempt, context: WorkContext): Promise<BackupResult> {
  const { owner, incarnation, spec, schedule, causes, lastKnown, storeReader, clock } = attempt;
  const limit = AbortSignal.timeout(longestUploadMs);
  const signal = AbortSignal.any([context.signal, limit]);
  const stored = { owner, namespace: owner.namespace, store: spec, storeReader };
  return withBackups(stored, async (backups, hasKeys) => {
    context.report('listing the existing backups');
    const folder = await readFolder(backups, incarnation, signal);
    const now = clock.now();
    const satisfied = await satisfiedBy(backups, folder.own, causes, { now, lastKnown, signal });
    const [newest] = folder.own;
    if (newest && satisfied.length === causes.length && !(schedule && isBackupDue(schedule, newest.time, now))) {
      const { sizeBytes } = await backups.manifest(newest, signal);
      const foreignWriter = foreignWriterOf(folder);
      return { newest: backupId(newest), sizeBytes, satisfied, retentionFault: undefined, foreignWriter };
    }
    const manifest = await upload(backups, attempt, folder.marker, hasKeys, { ...context, signal });
    const name = { time: Date.parse(manifest.time), revision: manifest.revision };
    const present = { ...folder, own: [{ ...name, isVerified: false, owner: incarnation.uid }, ...folder.own] };
    const retentionFault = await retain(backups, present, attempt, signal);
    const foreignWriter = foreignWriterOf(present);
    return { newest: backupId(name), sizeBytes: manifest.sizeBytes, satisfied: causes, retentionFault, foreignWriter };
  }).catch((cause: unknown) => {
    if (!limit.aborted) throw cause;
    throw new Error(
      `the upload was aborted after ${longestUploadMs / 3_600_000} h, because the connection to the store is too slow: check the network to the store`,
      { cause },
    );
  });
}

function foreignWriterOf({ own, foreign }: FolderContent): ForeignBackup | undefined {
  const found = contemporary(own, foreign);
  return found && { name: backupId(found), owner: found.owner };
}

async function satisfiedBy(
  backups: ClusterBackups,
  present: readonly StoredBackup[],
  causes: readonly BackupCause[],
  { signal, ...at }: Parameters<typeof satisfiedCauses>[2] & { readonly signal: AbortSignal },
): Promise<readonly BackupCause[]> {
  const satisfied = new Set<BackupCause>();
  for (const backup of causes.length > 0 ? present.slice(0, manifestsRead) : []) {
    const { takenFor = [] } = await backups.manifest(backup, signal).catch(damaged);
    for (const cause of satisfiedCauses(causes, { ...backup, takenFor }, at)) satisfied.add(cause);
    if (satisfied.size === causes.length) break;
  }
  return causes.filter((cause) => satisfied.has(cause));
}

/** A manifest that cannot be read satisfies no cause. An error of the store is rethrown. */
function damaged(error: unknown): Pick<Manifest, 'takenFor'> {
  if (error instanceof StoreError) throw error;
  return {};
}

async function upload(
  backups: ClusterBackups,
  { causes, kubernetesVersion, members, openEtcd, bundle, clock }: BackupAttempt,
  chain: OwnerMarker,
  isEncrypted: boolean,
  { signal, report, moved }: WorkContext,
): Promise<Manifest> {
  const etcd = openEtcd();
  try {
    const { client, status } = await snapshotSource(members, etcd.clients);
    const facts = {
      clusterId: await client.clusterId(),
      etcdVersion: status.version,
      kubernetesVersion,
      keys: await client.keyCounts(status.revision, signal),
      ...(causes.length > 0 ? { takenFor: [...causes] } : {}),
    };
    const name = { time: clock.now(), revision: status.revision };
    const databaseBytes = status.dbSizeBytes;
    const count = counting({ totalBytes: databaseBytes, report, moved, clock });
    const text = isEncrypted ? await bundle() : undefined;
    const bundled = text === undefined ? undefined : inOnePiece(text);
    const marker = ownerMarker(chain, facts.clusterId);
    const backup = { name, facts, marker, snapshot: client.source, databaseBytes, bundle: bundled };
    return await backups.write(backup, signal, count);
  } finally {
    etcd.close();
  }
}

const reportMs = 5_000;

interface SnapshotProgress {
  readonly totalBytes: number;
  readonly report: WorkContext['report'];
  readonly moved: WorkContext['moved'];
  readonly clock: Pick<Clock, 'now'>;
}

/** Counts the bytes of a snapshot, and reports them at intervals. */
function counting({ totalBytes, report, moved, clock }: SnapshotProgress): (bytes: number) => void {
  const began = clock.now();
  let reported = -Infinity;
  let bytes = 0;
  return (more) => {
    bytes += more;
    moved?.(more);
    if (clock.now() - reported < reportMs) return;
    reported = clock.now();
    report(
      `${mebibytes(bytes)} of about ${mebibytes(totalBytes)} MiB uploaded, ${Math.round((reported - began) / 1000)} s`,
    );
  };
}

async function* inOnePiece(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text, 'utf8');
}

/** Deletes its expired backups, and marks those of an earlier release. A failure does not affect the new backup, so it is returned instead of thrown. */
async function retain(
  backups: ClusterBackups,
  { own, unfinished, marker }: FolderContent,
  { spec, clock }: Pick<BackupAttempt, 'spec' | 'clock'>,
  stop: AbortSignal,
): Promise<string | undefined> {
  // The next backup by a clock that is right deletes them.
  if (clock.fault?.() !== undefined) return undefined;
  const limit = AbortSignal.timeout(retentionMs);
  const signal = AbortSignal.any([stop, limit]);
  try {
    const expired = expiredBackups(own, retentionOf(spec));
    for (const backup of expired) await backups.delete(backup, signal);
    await backups.deleteUnfinished(unfinished, clock.now() - leftoverMs, signal);
    const unmarked = own.filter((backup) => backup.owner === undefined && !expired.includes(backup));
    for (const backup of unmarked) await backups.mark(backup, marker, signal);
    return undefined;
  } catch (error) {
    // The backup is complete, whatever ended this.
    return limit.aborted ? `the store took more than ${retentionMs / 60_000} minutes for it` : messageOf(error);
  }
}
