import type { WorkContext } from '../../engine/tasks/background-work.ts';
import type { ClusterBackups } from '../cluster-backups.ts';
import { backupId, type BackupName } from '../../../constructs/cluster/backup-names.ts';
import { readFolder } from '../own-backups.ts';
import { withBackups } from '../with-backups.ts';
import { type BareSnapshotChoice, chooseOwnFirst, describeForeign } from '../choose-backup.ts';
import type { PreparedBackup, RestoreSource } from './prepared-backup.ts';
import { BackupNotFound, describeClaimed, describeMissing, refuseUnsuitable, refuseNewerEtcd } from './refusals.ts';
import type { RestoreChoice } from './request.ts';
import { backUpNewestReachableMember } from './newest-reachable-member.ts';
import { checkBareSnapshot, readBareSnapshot } from '../bare-snapshot.ts';
import { StoreError, stalledError } from '../store/store-error.ts';
import type { Clock } from '../../kube/clock.ts';
import { leastSpeed, withStallTimer } from '../../kube/stall.ts';
import { Secret } from '../../../constructs/api/resources.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { type RecoveryBundle, readRecoveryBundle } from '../recovery-bundle.ts';
import { keysIn, readEncryptionKeys } from '../../encryption-at-rest/secret.ts';
import type { Key } from '../../encryption-at-rest/configuration.ts';
import { messageOf } from '../../kube/error-message.ts';
import { InvalidConfiguration, type Outcome } from '../../engine/outcome.ts';
import { findTask } from '../../engine/tasks/task.ts';
import type { RestoreContext } from './restore-context.ts';
import { type Blocker, reportBlocker } from './blocker.ts';
import { isBegun, prepareWork, type Restoring } from './restoring.ts';
import { placeMissing, restoreSourceOf } from './source.ts';

/** Retry interval for changes that no watch reports, such as a store that is available again. */
export const retryMs = 30_000;

/** Chooses and checks the backup in the background, and reports the progress. */
export function prepare(scope: RestoreContext, restoring: Restoring): Outcome {
  const { work, now } = scope;
  const { request, record } = restoring;
  const isChecked = isBegun(request, record);
  const task = findTask<PreparedBackup>(work, now, {
    name: prepareWork,
    inputsKey: request.id,
    retryMs,
    // The prepared backup is used immediately, or is prepared again.
    holdsMs: () => 0,
    supersedes: true,
    turn: 'restore',
  });
  if (!scope.cluster.spec.etcd.backup)
    return reportBlocker(scope, restoring, { reason: 'BackupSecretInvalid', message: placeMissing });
  const { state } = task;
  if (state.kind === 'failed' && !task.isDue) {
    return reportBlocker(scope, restoring, failureOf(state.error), retryMs);
  }
  if (task.isDue) {
    const source = restoreSourceOf(scope, restoring);
    task.start((context) => prepareBackup(source, { isChecked }, context));
  }
  const progress = state.kind === 'running' ? state.progress : 'choosing the backup';
  return reportBlocker(scope, restoring, { reason: 'CheckingBackup', message: progress });
}

function failureOf(error: unknown): Blocker {
  const message = messageOf(error);
  if (error instanceof BackupNotFound) return { reason: 'BackupNotFound', message };
  if (error instanceof InvalidConfiguration) return { reason: error.reason, message };
  if (error instanceof StoreError && error.reason !== 'ObjectNotFound') return { reason: 'StoreUnavailable', message };
  return { reason: 'BackupUnusable', message };
}

/**
 * Chooses the backup and reads it completely once, including decryption, size and hash: before anything is changed, it
 * must be certain that the backup can be restored, and that its Secrets can then be read. With `isChecked` it reads
 * only the manifest, because the check is already done.
 * @throws BackupNotFound; InvalidConfiguration for Secrets; StoreError; any other error for an unusable backup
 */
export async function prepareBackup(
  restoreSource: RestoreSource,
  { isChecked }: { readonly isChecked: boolean },
  context: WorkContext,
): Promise<PreparedBackup> {
  const { signal, report, moved } = context;
  return withBackups(restoreSource, async (backups, hasKeys) => {
    const { choice } = restoreSource;
    // Without a manifest, only the content shows what a run must receive.
    if (choice.kind === 'bareSnapshot') return prepareBareSnapshot(choice.name, restoreSource, backups, context);
    const chosen = await choose(choice, restoreSource, backups, context);
    const backup = backupId(chosen);
    const manifest = await backups.manifest(chosen, signal);
    refuseUnsuitable(backup, manifest, restoreSource, hasKeys);
    const prepared = {
      backup,
      snapshot: manifest,
      read: (store: ClusterBackups, stop: AbortSignal) => store.readSnapshot(chosen, manifest, stop),
    };
    if (isChecked) return { ...prepared, encryptionKeys: [] };
    const reading = { clock: restoreSource.clock, signal };
    const what = `read the recovery bundle of backup ${backup}`;
    const encryptionKeys =
      manifest.objects.bundle === undefined
        ? []
        : await readBackupKeys(readTimed(backups.readRecoveryBundle(chosen, signal), what, reading), restoreSource);
    let bytes = 0;
    const source = readTimed(backups.readSnapshot(chosen, manifest, signal), `read backup ${backup}`, reading);
    for await (const chunk of source) {
      bytes += chunk.length;
      moved?.(chunk.length);
      report(`checked ${amount(bytes)} of ${amount(manifest.sizeBytes)} of backup ${backup}`);
    }
    if (restoreSource.isContended) await claim(chosen, restoreSource, backups, signal);
    return { ...prepared, encryptionKeys };
  });
}

/** Last, because a HostedControlPlane that cannot restore the data must not keep the other one from going on with them. */
async function claim(
  backup: BackupName,
  { incarnation: { uid } }: RestoreSource,
  backups: ClusterBackups,
  signal: AbortSignal,
): Promise<void> {
  const owner = await backups.takeMoveLock(backup, uid, signal);
  if (owner !== uid) throw new Error(describeClaimed(backupId(backup), owner));
}

async function choose(
  choice: Exclude<RestoreChoice, BareSnapshotChoice>,
  { reachableMembers, incarnation, isOwn, isNamed, owner }: RestoreSource,
  backups: ClusterBackups,
  context: WorkContext,
): Promise<BackupName> {
  if (choice.kind === 'reachableMember') {
    const folder = await readFolder(backups, incarnation, context.signal);
    return backUpNewestReachableMember(reachableMembers, choice.revision, { backups, folder }, context);
  }
  context.report('choosing the backup');
  const found = isOwn
    ? await readFolder(backups, incarnation, context.signal)
    : { own: [], foreign: (await backups.list(context.signal)).backups };
  const chosen = chooseOwnFirst(choice, found, isNamed || incarnation.clusterId === undefined);
  switch (chosen.kind) {
    case 'chosen':
      return chosen.backup;
    case 'none':
      throw new BackupNotFound(
        `${describeMissing(choice, owner, [...found.own, ...found.foreign])}${await besides(backups, context.signal)}`,
      );
    case 'foreign':
    case 'ambiguous':
      throw new BackupNotFound(describeForeign(chosen, owner));
  }
}

/** Mebibytes, for users. */
export function amount(bytes: number): string {
  return `${Math.ceil(bytes / 1024 ** 2)} MiB`;
}

/** Snapshots of another provider, which only their names select. */
async function besides(backups: ClusterBackups, signal: AbortSignal): Promise<string> {
  const [last, ...others] = (await backups.list(signal)).bareSnapshots;
  if (last === undefined) return '';
  return `; it contains snapshots without a manifest (${others.length + 1}): set etcd.restore.backup to the name of one, such as ${last}, to restore it`;
}

/**
 * Checks a snapshot without a manifest. It reads the whole snapshot also in a process that continues a restore, because
 * nothing else shows the hash that the pods of the restore expect.
 * @throws BackupNotFound; StoreError; any other error for an unusable snapshot
 */
async function prepareBareSnapshot(
  name: string,
  { clock, owner, etcdVersion }: RestoreSource,
  backups: ClusterBackups,
  { signal, report, moved }: WorkContext,
): Promise<PreparedBackup> {
  report(`reading snapshot ${name}`);
  const object = await backups.bareSnapshot(name, signal).catch((error: unknown) => {
    if (!(error instanceof StoreError) || error.reason !== 'ObjectNotFound') throw error;
    throw new BackupNotFound(
      `the bucket contains no snapshot ${name} of ${owner.namespace}/${owner.cluster}: check its name, etcd.restore.from, and the bucket in the Secret`,
    );
  });
  const stream = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of readTimed(object.stream(), `read snapshot ${name}`, { clock, signal })) {
      moved?.(chunk.length);
      yield chunk;
    }
  };
  const snapshot = await checkBareSnapshot(name, { ...object, stream }, (facts) => {
    if (facts.etcdVersion !== undefined) refuseNewerEtcd(`snapshot ${name}`, facts.etcdVersion, etcdVersion);
  });
  const read = async function* (store: ClusterBackups, stop: AbortSignal): AsyncGenerator<Uint8Array> {
    yield* readBareSnapshot(name, await store.bareSnapshot(name, stop), snapshot);
  };
  return { backup: name, snapshot, read, encryptionKeys: [] };
}

/** The same stream of a store, which fails after a minute without progress. @param what completes "cannot ..." */
function readTimed(
  stream: AsyncIterable<Uint8Array>,
  what: string,
  timing: { readonly clock: Clock; readonly signal: AbortSignal },
): AsyncIterable<Uint8Array> {
  return withStallTimer(stream, { what, limitMs: 60_000, least: leastSpeed, stalled: stalledError, ...timing });
}

/**
 * The keys that encrypt Secrets of a backup, from the stream of its recovery bundle.
 * @throws StoreError; for a backup of another Cluster also any other error for an unusable bundle
 */
export async function readBackupKeys(
  stream: AsyncIterable<Uint8Array>,
  { owner, isOwn }: Pick<RestoreSource, 'owner' | 'isOwn'>,
): Promise<readonly Key[]> {
  try {
    return recoveryBundleKeys(await readRecoveryBundle(stream), owner.cluster);
  } catch (error) {
    const isUnreachable = error instanceof StoreError && error.reason !== 'ObjectNotFound';
    // The Secret of this cluster contains the keys of its own backups. An unusable bundle must not block access to its
    // own data.
    if (!isOwn || isUnreachable) throw error;
    return [];
  }
}

/**
 * The keys in a bundle; none if the cluster does not encrypt Secrets.
 * @param cluster owner of the backup
 * @throws a sentence for the user, without content of the bundle
 */
function recoveryBundleKeys({ secrets }: RecoveryBundle, cluster: string): Key[] {
  const name = namesOf(cluster).secrets.encryption;
  const found = secrets.find((secret) => secret.name === name);
  if (!found) return [];
  const { apiVersion, kind } = Secret;
  const keys = readEncryptionKeys({ apiVersion, kind, metadata: { name }, data: found.data });
  if (!keys)
    throw new Error(
      `the recovery bundle contains Secret ${name} without a valid encryption configuration: use another backup`,
    );
  return keysIn(keys);
}
