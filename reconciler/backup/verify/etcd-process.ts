import { etcdMemberHost } from '../../../constructs/cluster/names.ts';
import { ports } from '../../../constructs/cluster/ports.ts';
import type { WorkContext } from '../../engine/tasks/background-work.ts';
import { MemberClient } from '../../etcd/client.ts';
import { type MemberEndpoint } from '../../etcd/etcd3-client.ts';
import { pause } from '../../kube/clock.ts';
import type { Manifest } from '../manifest.ts';
import { pollMs, serveLimitMs, type VerificationTask } from './task.ts';
import { verificationPodState } from './pod.ts';

/** The etcd of a verification, which uses the certificate of the members. */
export function etcdAt(cluster: VerificationTask['cluster'], address: string): MemberEndpoint {
  const host = address.includes(':') ? `[${address}]` : address;
  return {
    name: 'of the verification',
    address: `${host}:${ports.etcdClient}`,
    serverName: etcdMemberHost(cluster, 0),
  };
}

/** Waits until etcd serves, and returns its newest revision. */
export async function untilServing(
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
export async function countKeys(
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
