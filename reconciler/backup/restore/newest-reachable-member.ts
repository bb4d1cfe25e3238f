import { kubernetesVersion } from '../../../constructs/cluster/versions.ts';
import type { WorkContext } from '../../engine/tasks/background-work.ts';
import type { ClusterBackups } from '../cluster-backups.ts';
import type { FolderContent } from '../own-backups.ts';
import { ownerMarker } from '../owner-marker.ts';
import type { BackupName } from '../../../constructs/cluster/backup-names.ts';
import type { EtcdAccess } from '../../etcd/access.ts';
import { type KnownMember, observeEtcd } from '../../etcd/observe-members.ts';
import type { Member, MemberStatus } from '../../etcd/members.ts';

/** Members of an etcd without a quorum, with access to them. */
export interface ReachableMembers {
  readonly known: readonly KnownMember[];
  readonly openEtcd: () => EtcdAccess;
  readonly kubernetesVersion: string;
}

/**
 * Backs up the newest reachable member of an etcd without a quorum, because members answer reads even without a quorum.
 * Its data is then safe, and can be checked and restored like any backup, before anything is changed. Returns the
 * backup; an earlier backup of its own with the same revision is reused.
 * @param revision the revision that a person has accepted
 * @throws a sentence for the user if the newest member has another revision, because the decision is based on an
 * outdated value
 */
export async function backUpNewestReachableMember(
  { known, openEtcd, kubernetesVersion: version }: ReachableMembers,
  revision: number,
  { backups, folder }: { readonly backups: ClusterBackups; readonly folder: Pick<FolderContent, 'own' | 'marker'> },
  { signal, report }: WorkContext,
): Promise<BackupName> {
  const present = folder.own.find((backup) => backup.revision === revision);
  const etcd = openEtcd();
  try {
    const { members } = await observeEtcd(known, etcd.clients);
    const newest = newestOf(members);
    if (newest === undefined && present) return present;
    const { name, status } = requireRevision(newest, revision);
    if (present) return present;
    report(`backing up ${name} at revision ${revision}`);
    return await backUp({ name, status, clients: etcd.clients, version }, { backups, folder }, signal);
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

function requireRevision(newest: ReachableMember | undefined, revision: number): ReachableMember {
  if (newest?.status.revision === revision) return newest;
  if (newest) {
    throw new Error(
      `etcd.recovery.acceptDataLossTo is revision ${revision}, but the newest reachable member ${newest.name} has revision ${newest.status.revision}: set it to ${newest.status.revision}, or to a backup`,
    );
  }
  throw new Error(
    `no etcd member answers, so etcd cannot recover from a member at revision ${revision}: the operator asks again, or set etcd.recovery.acceptDataLossTo to a backup`,
  );
}

async function backUp(
  {
    name,
    status,
    clients,
    version,
  }: ReachableMember & { readonly clients: EtcdAccess['clients']; readonly version: string },
  { backups, folder }: { readonly backups: ClusterBackups; readonly folder: Pick<FolderContent, 'marker'> },
  signal: AbortSignal,
): Promise<BackupName> {
  const client = clients(name);
  if (!client) throw new Error(`etcd member ${name} is no longer reachable`);
  const facts = {
    clusterId: await client.clusterId(),
    etcdVersion: status.version,
    kubernetesVersion: kubernetesVersion(version),
    keys: await client.keyCounts(status.revision, signal),
  };
  const backup = { time: Date.now(), revision: status.revision };
  const marker = ownerMarker(folder.marker, facts.clusterId);
  await backups.write({ name: backup, facts, marker, snapshot: client.source }, signal);
  return backup;
}
