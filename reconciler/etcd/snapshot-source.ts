import type { EtcdAccess, MemberCalls } from './access.ts';
import { healthyVoters, leaderOf, type MemberStatus } from './members.ts';
import { type KnownMember, observeEtcd } from './observe.ts';

/** The member to take a snapshot of, with its status. */
export interface SnapshotSource {
  readonly name: string;
  readonly client: MemberCalls;
  readonly status: MemberStatus;
}

/**
 * A healthy follower that is caught up, or else the leader: reading the whole database slows a member down, and all
 * writes go through the leader.
 * @throws a sentence for the user if etcd has no leader or no member answers
 */
export async function snapshotSource(
  known: readonly Pick<KnownMember, 'ordinal' | 'name' | 'peerUrl'>[],
  clients: EtcdAccess['clients'],
): Promise<SnapshotSource> {
  const members = known.map((member) => ({ ...member, pod: undefined, claim: undefined }));
  const observation = await observeEtcd(members, clients);
  const leader = leaderOf(observation)?.name;
  const [chosen] = healthyVoters(observation).toSorted(
    (one, other) =>
      Number(one.name === leader) - Number(other.name === leader) ||
      (other.status?.raftAppliedIndex ?? 0) - (one.status?.raftAppliedIndex ?? 0),
  );
  const client = chosen && clients(chosen.name);
  if (chosen?.status && client) return { name: chosen.name, client, status: chosen.status };
  const problems = observation.members.flatMap(({ problem }) => (problem ? [problem] : []));
  throw new Error(`no etcd member can provide a snapshot: ${problems.join('; ') || 'no member follows a leader'}`);
}
