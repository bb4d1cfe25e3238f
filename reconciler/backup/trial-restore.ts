import { etcdMemberHost } from '../../constructs/control-plane/names.ts';
import { ports } from '../../constructs/control-plane/ports.ts';
import type { WorkContext } from '../background-work.ts';
import { type EtcdCredentials, MemberClient, type MemberEndpoint } from '../etcd/client.ts';
import { type Clock, pause } from '../kube/clock.ts';
import { messageOf } from '../kube/error-message.ts';
import { pushSnapshot } from '../restore/push.ts';
import type { ClusterBackups } from './cluster-backups.ts';
import { contentFaults, type Manifest } from './manifest.ts';
import { backupId, type BackupName } from './names.ts';
import { StoreError } from './store-error.ts';
import { BackupUnusable } from './trial-failure.ts';
import { type TrialPod, type TrialPodState, trialPodState } from './trial-pod.ts';
import type { Verification } from './verification.ts';

/** One trial, and what it needs. */
export interface Trial {
  readonly cluster: { readonly name: string; readonly namespace: string };
  readonly backups: ClusterBackups;
  readonly backup: BackupName;
  readonly credentials: EtcdCredentials;
  /** Applies the pod that restores the backup of this manifest. */
  readonly createPod: (run: string, manifest: Manifest) => Promise<void>;
  /** The pod as the watches know it; undefined when there is none. */
  readonly pod: () => TrialPod | undefined;
  readonly clock: Clock;
}

/** How long a pod may take to start: its images may have to be pulled. */
const startLimitMs = 10 * 60_000;
/** How long etcd may take from the last byte of the snapshot: the tool writes it anew, at 10 MB/s on a slow disk. */
const serveLimitMs = (sizeBytes: number) => 10 * 60_000 + sizeBytes / 10_000;
/** A pod is seen by the watches, so that a look costs nothing; etcd's start is measured to this. */
const lookMs = 200;

/**
 * Restores a backup into the etcd of a pod and compares what is in it with its manifest, then notes in the store that it
 * is good. The pod stays: whoever began the trial removes it.
 * @throws BackupUnusable, StoreError, and any other error when the trial could not be held
 */
export async function restoreForTrial(trial: Trial, context: WorkContext): Promise<Verification> {
  const { backups, backup, clock } = trial;
  const manifest = await backups.manifest(backup).catch(asUnusable);
  await trial.createPod(backupId(backup), manifest);
  context.report('waiting for the pod');
  await untilPod(trial, context, 'receiving', startLimitMs);
  const began = await send(trial, manifest, context);
  context.report('the pod makes a data directory of it');
  const address = await untilPod(trial, context, 'started', serveLimitMs(manifest.sizeBytes));
  const etcd = etcdAt(trial.cluster, address);
  const revision = await untilServing(trial, etcd, manifest, context);
  const restoreSeconds = (clock.now() - began) / 1000;

  const { sha256, sizeBytes } = manifest;
  // etcd refuses to count at a revision that it does not have.
  const keys = revision < manifest.revision ? manifest.keys : await countKeys(trial, etcd, manifest.revision);
  const faults = contentFaults(manifest, { sha256, sizeBytes, revision, keys });
  if (faults.length > 0) throw new BackupUnusable(faults.join('; '));
  const verification = {
    formatVersion: 1,
    time: new Date(clock.now()).toISOString(),
    revision,
    restoreSeconds,
  } as const;
  await backups.markVerified(backup, verification);
  return verification;
}

/** What cannot be read, or is not what was written, is of no use; what did not come may be. */
function asUnusable(error: unknown): never {
  if (error instanceof StoreError && error.reason !== 'ObjectNotFound') throw error;
  throw new BackupUnusable(messageOf(error), { cause: error });
}

/** Waits until the pod has come to this step, and gives its address. */
async function untilPod(
  { pod, clock }: Trial,
  { signal }: WorkContext,
  wanted: 'receiving' | 'started',
  limitMs: number,
): Promise<string> {
  let last: TrialPodState = { kind: 'starting', message: 'it is not there yet' };
  for (const end = clock.now() + limitMs; clock.now() < end; await pause(clock, lookMs, signal)) {
    signal.throwIfAborted();
    const found = pod();
    if (!found && last.kind !== 'starting') throw new Error('somebody deleted the pod of the trial');
    if (!found) continue;
    last = trialPodState(found);
    if (last.kind === wanted) return last.address;
    // The hash was right, so that this is what was backed up: it cannot be restored by anybody.
    if (last.kind === 'failed' && last.step === 'restore') throw new BackupUnusable(`etcdutl: ${last.message}`);
    if (last.kind === 'failed') throw new Error(`the pod of the trial failed: ${last.message}`);
  }
  const why = last.kind === 'starting' ? last.message : last.kind;
  throw new Error(`the pod of the trial did not get ready within ${Math.round(limitMs / 60_000)} minutes: ${why}`);
}

/** Sends the snapshot and gives the time at which its first byte was read. */
async function send(
  { cluster, backups, backup, credentials, pod, clock }: Trial,
  manifest: Manifest,
  { signal, report }: WorkContext,
): Promise<number> {
  let began: number | undefined;
  let failure: { readonly of: unknown } | undefined;
  async function* watched(): AsyncGenerator<Uint8Array> {
    began = clock.now();
    try {
      yield* backups.readSnapshot(backup, manifest, signal);
    } catch (error) {
      failure = { of: error };
      throw error;
    }
  }
  for (const end = clock.now() + listenLimitMs; ;) {
    const found = pod();
    const state = found && trialPodState(found);
    if (state?.kind !== 'receiving') throw new Error('the pod of the trial ended before it had the snapshot');
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
      if (clock.now() > end || !isRefused(error)) throw error;
      await pause(clock, lookMs, signal);
    }
  }
}

const listenLimitMs = 30_000;

function isRefused(error: unknown): boolean {
  return messageOf(error).includes('ECONNREFUSED');
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / (1 << 20));
}

function etcdAt(cluster: Trial['cluster'], address: string): MemberEndpoint {
  const host = address.includes(':') ? `[${address}]` : address;
  return { name: 'of the trial', address: `${host}:${ports.etcdClient}`, serverName: etcdMemberHost(cluster, 0) };
}

/** Waits until etcd serves, and gives its newest revision. */
async function untilServing(
  { credentials, clock, pod }: Trial,
  etcd: MemberEndpoint,
  { sizeBytes }: Manifest,
  { signal, report }: WorkContext,
): Promise<number> {
  report('waiting for etcd to serve it');
  for (const end = clock.now() + serveLimitMs(sizeBytes); ; await pause(clock, lookMs, signal)) {
    signal.throwIfAborted();
    // A client that was refused once waits before it dials again.
    const client = new MemberClient(etcd, credentials);
    try {
      await client.members('quorum');
      return (await client.status()).status.revision;
    } catch (error) {
      const found = pod();
      const state = found && trialPodState(found);
      if (state?.kind === 'failed') throw new Error(`the etcd of the trial ended: ${state.message}`, { cause: error });
      if (!found || clock.now() > end) throw error;
    } finally {
      client.close();
    }
  }
}

/** Counts at the revision of the backup: leases that ran out since have deleted keys already. */
async function countKeys({ credentials }: Trial, etcd: MemberEndpoint, revision: number): Promise<Manifest['keys']> {
  const client = new MemberClient(etcd, credentials);
  try {
    return await client.keyCounts(revision);
  } finally {
    client.close();
  }
}
