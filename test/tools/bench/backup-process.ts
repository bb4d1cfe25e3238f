/**
 * Takes a backup and reads it back as the operator does, in a separate process, to measure its memory:
 * `node backup-process.ts < job.json`. The answer on standard output is a {@link BackupMeasurement}.
 */
import { writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { ClusterBackups } from '../../../reconciler/backup/cluster-backups.ts';
import { ObjectStore } from '../../../reconciler/backup/store/object-store.ts';
import type { StoreSettings } from '../../../reconciler/backup/store/store-settings.ts';
import { MemberClient } from '../../../reconciler/etcd/client.ts';
import { type EtcdCredentials, type MemberEndpoint } from '../../../reconciler/etcd/etcd3-client.ts';
import { systemClock } from '../../../reconciler/kube/clock.ts';
import { pushSnapshot } from '../../../reconciler/backup/receiver/push.ts';
import { processMemory } from './process-memory.ts';

const owner = { namespace: 'bench', cluster: 'c1' };

/** The job, with its addresses and credentials. */
export type BackupJob =
  | {
      readonly kind: 'take';
      readonly store: StoreSettings;
      readonly member: MemberEndpoint;
      readonly credentials: EtcdCredentials;
    }
  | {
      readonly kind: 'push';
      readonly store: StoreSettings;
      /** Port of the receiver on the loopback address. */
      readonly port: number;
      readonly serverName: string;
      readonly credentials: EtcdCredentials;
    };

/** The cost. */
export interface BackupMeasurement {
  readonly ms: number;
  /** What the thread that reconciles in an operator had to do. */
  readonly mainThreadMs: number;
  readonly sizeBytes: number;
  readonly sha256: string;
  /** Resident memory before, and the peak until the end. */
  readonly restBytes: number;
  readonly peakBytes: number;
}

async function measure(job: BackupJob): Promise<BackupMeasurement> {
  const store = new ObjectStore(job.store);
  const backups = new ClusterBackups(store, owner);
  // Everything is loaded and every connection was opened once: the rest is due to the upload.
  await backups.list();
  await setTimeout(1_000);
  await forgetPeak();
  const restBytes = await processMemory(process.pid, 'VmRSS');
  const start = performance.now();
  const before = process.threadCpuUsage();
  const { sizeBytes, sha256 } = job.kind === 'take' ? await take(job, backups) : await push(job, backups);
  const ms = performance.now() - start;
  const { user, system } = process.threadCpuUsage(before);
  const peakBytes = await processMemory(process.pid, 'VmHWM');
  store.close();
  return { ms, mainThreadMs: (user + system) / 1000, sizeBytes, sha256, restBytes, peakBytes };
}

async function take({ member, credentials }: Extract<BackupJob, { kind: 'take' }>, backups: ClusterBackups) {
  const client = new MemberClient(member, credentials);
  const { status } = await client.status();
  const manifest = await backups.write({
    name: { time: Date.now(), revision: status.revision },
    facts: {
      clusterId: await client.clusterId(),
      etcdVersion: status.version,
      kubernetesVersion: 'v1.36.0',
      keys: await client.keyCounts(status.revision),
    },
    snapshot: client.source,
  });
  client.close();
  return manifest;
}

async function push(job: Extract<BackupJob, { kind: 'push' }>, backups: ClusterBackups) {
  const [newest] = (await backups.list()).backups;
  if (!newest) throw new Error('there is no backup to restore');
  const manifest = await backups.manifest(newest);
  await pushSnapshot(
    { address: '127.0.0.1', port: job.port, serverName: job.serverName },
    backups.readSnapshot(newest, manifest),
    {
      sizeBytes: manifest.sizeBytes,
      credentials: job.credentials,
      clock: systemClock,
      signal: new AbortController().signal,
    },
  );
  return manifest;
}

/** Resets the kernel's peak counter. */
function forgetPeak(): Promise<void> {
  return writeFile('/proc/self/clear_refs', '5');
}

process.stdout.write(JSON.stringify(await measure(JSON.parse(await text(process.stdin)) as BackupJob)));
