import { kubernetesVersion } from '../../constructs/cluster/versions.ts';
import type { WorkContext } from '../tasks/background-work.ts';
import type { ClusterBackups } from '../backup/cluster-backups.ts';
import type { BackupName } from '../backup/names.ts';
import type { EtcdAccess } from '../etcd/access.ts';
import { type KnownMember, observeEtcd } from '../etcd/observe.ts';
import type { Member, MemberStatus } from '../etcd/members.ts';

/** Members of an etcd that has lost its quorum, and how to ask them. */
export interface ReachableMembers {
  readonly known: readonly KnownMember[];
  readonly openEtcd: () => EtcdAccess;
  readonly kubernetesVersion: string;
}

/**
 * Backs the newest member up that is left of an etcd without a quorum: it answers all the same. So its data is safe, and
 * can be checked and restored as any backup can, before anything is touched. Gives the backup; an earlier one of the
 * same revision will do.
 * @param revision what a person has agreed to go on from
 * @throws a sentence for the user when the newest member has another revision: somebody has decided by an old figure
 */
export async function backUpNewestReachableMember(
  { known, openEtcd, kubernetesVersion: version }: ReachableMembers,
  revision: number,
  backups: ClusterBackups,
  { signal, report }: WorkContext,
): Promise<BackupName> {
  const present = (await backups.list(signal)).backups.find((backup) => backup.revision === revision);
  const etcd = openEtcd();
  try {
    const { members } = await observeEtcd(known, etcd.clients);
    const newest = newestOf(members);
    if (newest === undefined && present) return present;
    const { name, status } = chosen(newest, revision);
    if (present) return present;
    report(`backing up ${name}, which has revision ${revision}`);
    return await backUp({ name, status, clients: etcd.clients, version }, backups, signal);
  } finally {
    etcd.close();
  }
}

interface ReachableMember {
  readonly name: string;
  readonly status: MemberStatus;
}

function newestOf(members: readonly Member[]): ReachableMember | undefined {
  const answering = members.flatMap(({ name, status }) => (status ? [{ name, status }] : []));
  return answering.toSorted((one, other) => other.status.revision - one.status.revision)[0];
}

function chosen(newest: ReachableMember | undefined, revision: number): ReachableMember {
  if (newest?.status.revision === revision) return newest;
  if (newest) {
    throw new Error(
      `etcd.recovery.acceptDataLossTo is revision ${revision}, and the newest member that is left, ${newest.name}, has revision ${newest.status.revision}: set it to that, or to a backup`,
    );
  }
  throw new Error(
    `no member of etcd answers, so that none can be gone on from at revision ${revision}: set etcd.recovery.acceptDataLossTo to a backup`,
  );
}

async function backUp(
  {
    name,
    status,
    clients,
    version,
  }: ReachableMember & { readonly clients: EtcdAccess['clients']; readonly version: string },
  backups: ClusterBackups,
  signal: AbortSignal,
): Promise<BackupName> {
  const client = clients(name);
  if (!client) throw new Error(`etcd member ${name} has gone meanwhile`);
  const facts = {
    clusterId: await client.clusterId(),
    etcdVersion: status.version,
    kubernetesVersion: kubernetesVersion(version),
    keys: await client.keyCounts(status.revision),
  };
  const backup = { time: Date.now(), revision: status.revision };
  await backups.write({ name: backup, facts, snapshot: client.snapshot(signal) }, signal);
  return backup;
}
