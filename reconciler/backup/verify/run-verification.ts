import { etcdMemberHost, namesOf } from '../../../constructs/cluster/names.ts';
import { ports } from '../../../constructs/cluster/ports.ts';
import type { WorkContext } from '../../engine/tasks/background-work.ts';
import { type Clock, pause, systemClock } from '../../kube/clock.ts';
import { messageOf } from '../../kube/error-message.ts';
import { pushSnapshot } from '../receiver/push.ts';
import { contentFaults, type Manifest } from '../manifest.ts';
import { backupId, type BackupName } from '../../../constructs/cluster/backup-names.ts';
import { StoreError } from '../store/store-error.ts';
import { BackupUnusable } from '../failure.ts';
import {
  createVerificationPod,
  removeVerificationPods,
  type VerificationContext,
  type VerificationPodState,
  verificationPodState,
} from './verification-pod.ts';
import type { Backup } from '../../../constructs/api/backup-spec.ts';
import { Pod } from '../../../constructs/api/resources.ts';
import { etcdCredentials } from '../../etcd/access.ts';
import { ownBackups, withBackups } from '../with-backups.ts';
import type { Verification } from '../verification-result.ts';
import type { PodObject } from '../../../imports/kubernetes.ts';
import type { EtcdCredentials, MemberEndpoint } from '../../etcd/etcd3-client.ts';
import type { ClusterBackups } from '../cluster-backups.ts';
import { MemberClient } from '../../etcd/client.ts';

/** One verification, with everything that it needs. */
interface VerificationTask {
  readonly cluster: VerificationContext['cluster'];
  readonly backups: ClusterBackups;
  readonly backup: BackupName;
  readonly credentials: EtcdCredentials;
  /** Applies the pod that restores the backup of this manifest. */
  readonly createPod: (manifest: Manifest) => Promise<void>;
  /** The pod as the watches know it; undefined if there is none. */
  readonly pod: () => PodObject | undefined;
  readonly clock: Clock;
}

/** How long etcd may take after the last byte of the snapshot: etcdutl rewrites it, at 10 MB/s on a slow disk. */
function serveLimitMs(sizeBytes: number): number {
  return 10 * 60_000 + sizeBytes / 10_000;
}

/**
 * Interval for checks of the pod. The watches know the pod, so a check costs nothing. It is the precision of the
 * measured restore time.
 */
const pollMs = 200;

/** How long a pod may take to start, including pulling its images. */
const startLimitMs = 10 * 60_000;

/** Verifies a backup in a pod, which is removed in any case. */
export function runVerification(
  scope: VerificationContext,
  spec: Backup,
  backup: BackupName,
  context: WorkContext,
): Promise<Verification> {
  const { cluster, reader } = scope;
  return withBackups(ownBackups(scope, spec), async (backups) => {
    const task = {
      cluster,
      backups,
      backup,
      credentials: etcdCredentials(cluster.name, reader),
      createPod: (manifest: Manifest) => createVerificationPod(scope, backupId(backup), manifest),
      pod: () => reader.get<PodObject>(Pod, namesOf(cluster.name).etcdVerify),
      clock: systemClock,
    };
    try {
      return await restoreForVerification(task, context);
    } finally {
      await removeVerificationPods(scope);
    }
  });
}

/**
 * Restores a backup into the etcd of a pod, compares its content with the manifest, and records the success in the
 * store.
 * @throws BackupUnusable, StoreError, and any other error if the verification could not run
 */
async function restoreForVerification(task: VerificationTask, context: WorkContext): Promise<Verification> {
  const { backups, backup, clock } = task;
  const manifest = await backups.manifest(backup, context.signal).catch(asUnusable);
  await task.createPod(manifest);
  context.report('waiting for the pod');
  await untilPod(task, context, 'receiving', startLimitMs);
  const began = await send(task, manifest, context);
  context.report('the pod restores the snapshot to a data directory');
  const address = await untilPod(task, context, 'started', serveLimitMs(manifest.sizeBytes));
  const etcd = etcdAt(task.cluster, address);
  const revision = await untilServing(task, etcd, manifest, context);
  const restoreSeconds = (clock.now() - began) / 1000;

  const { sha256, sizeBytes } = manifest;
  // etcd refuses to count at a revision that it does not have.
  const keys =
    revision < manifest.revision ? manifest.keys : await countKeys(task, etcd, manifest.revision, context.signal);
  const faults = contentFaults(manifest, { sha256, sizeBytes, revision, keys });
  if (faults.length > 0) throw new BackupUnusable(faults.join('; '));
  const verification = {
    formatVersion: 1,
    time: new Date(clock.now()).toISOString(),
    revision,
    restoreSeconds,
  } as const;
  await backups.markVerified(backup, verification, context.signal);
  return verification;
}

/**
 * A backup that is missing, cannot be read, or differs from what was written, is unusable. Any other error of the store
 * says nothing about the backup.
 */
function asUnusable(error: unknown): never {
  if (error instanceof StoreError && error.reason !== 'ObjectNotFound') throw error;
  throw new BackupUnusable(messageOf(error), { cause: error });
}

/** Waits until the pod has reached this step, and returns its address. */
async function untilPod(
  { pod, clock }: VerificationTask,
  { signal, report }: WorkContext,
  wanted: 'receiving' | 'started',
  limitMs: number,
): Promise<string> {
  let last: VerificationPodState = { kind: 'starting', message: 'not created yet' };
  for (const end = clock.now() + limitMs; clock.now() < end; await pause(clock, pollMs, signal)) {
    signal.throwIfAborted();
    const found = pod();
    if (!found && last.kind !== 'starting') throw new Error('the verification pod was deleted');
    if (!found) continue;
    last = verificationPodState(found);
    if (last.kind === wanted) return last.address;
    if (last.kind === 'starting') report(`waiting for the pod: ${last.message}`);
    if (last.kind === 'failed' && isRefusal(last)) throw new BackupUnusable(`etcdutl: ${last.message}`);
    if (last.kind === 'failed') throw new Error(`the verification pod failed: ${last.message}`);
  }
  const why = last.kind === 'starting' ? last.message : last.kind;
  throw new Error(`the verification pod was not ready within ${Math.round(limitMs / 60_000)} minutes: ${why}`);
}

/**
 * The hash was correct. If etcdutl refuses the snapshot for another reason than disk space or memory, it cannot be
 * restored at all.
 */
function isRefusal({ step, exitCode, message }: Extract<VerificationPodState, { kind: 'failed' }>): boolean {
  return step === 'restore' && exitCode === 1 && !message.includes('no space left');
}

/** Sends the snapshot, and returns the time at which its first byte was read. */
async function send(
  { cluster, backups, backup, credentials, pod, clock }: VerificationTask,
  manifest: Manifest,
  { signal, report, moved }: WorkContext,
): Promise<number> {
  let began: number | undefined;
  let failure: { readonly of: unknown } | undefined;
  async function* watched(): AsyncGenerator<Uint8Array> {
    began = clock.now();
    try {
      for await (const chunk of backups.readSnapshot(backup, manifest, signal)) {
        yield chunk;
        moved?.(chunk.length);
      }
    } catch (error) {
      failure = { of: error };
      throw error;
    }
  }
  for (const end = clock.now() + listenLimitMs; ;) {
    const found = pod();
    const state = found && verificationPodState(found);
    if (state?.kind !== 'receiving') throw new Error('the verification pod terminated before it received the snapshot');
    const receiver = { address: state.address, port: ports.etcdClient, serverName: etcdMemberHost(cluster, 0) };
    try {
      await pushSnapshot(receiver, watched(), {
        sizeBytes: manifest.sizeBytes,
        credentials,
        clock,
        signal,
        onProgress: (bytes) => report(`${mebibytes(bytes)} of ${mebibytes(manifest.sizeBytes)} MiB sent`),
      });
      return began ?? clock.now();
    } catch (error) {
      signal.throwIfAborted();
      if (failure) asUnusable(failure.of);
      // The container runs a moment before it listens.
      if (clock.now() > end || !messageOf(error).includes('ECONNREFUSED')) throw error;
      await pause(clock, pollMs, signal);
    }
  }
}

const listenLimitMs = 30_000;

function mebibytes(bytes: number): number {
  return Math.round(bytes / (1 << 20));
}

/** The etcd of a verification, which uses the certificate of the members. */
function etcdAt(cluster: VerificationTask['cluster'], address: string): MemberEndpoint {
  const host = address.includes(':') ? `[${address}]` : address;
  return {
    name: 'of the verification',
    address: `${host}:${ports.etcdClient}`,
    serverName: etcdMemberHost(cluster, 0),
  };
}

/** Waits until etcd serves, and returns its newest revision. */
async function untilServing(
  { credentials, clock, pod }: VerificationTask,
  etcd: MemberEndpoint,
  { sizeBytes }: Manifest,
  { signal, report }: WorkContext,
): Promise<number> {
  report('waiting until etcd serves the backup');
  for (const end = clock.now() + serveLimitMs(sizeBytes); ; await pause(clock, pollMs, signal)) {
    signal.throwIfAborted();
    // A client that was refused once waits before it dials again.
    const client = new MemberClient(etcd, credentials);
    try {
      await client.members('quorum');
      return (await client.status()).status.revision;
    } catch (error) {
      const found = pod();
      const state = found && verificationPodState(found);
      if (state?.kind === 'failed')
        throw new Error(`the etcd of the verification terminated: ${state.message}`, { cause: error });
      if (!found || clock.now() > end) throw error;
    } finally {
      client.close();
    }
  }
}

/** Counts at the revision of the backup, because expired leases may have deleted keys since. */
async function countKeys(
  { credentials }: VerificationTask,
  etcd: MemberEndpoint,
  revision: number,
  signal: AbortSignal,
): Promise<Manifest['keys']> {
  const client = new MemberClient(etcd, credentials);
  try {
    return await client.keyCounts(revision, signal);
  } finally {
    client.close();
  }
}
