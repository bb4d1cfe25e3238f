import type { Damage } from './damage.ts';

/** What is known of one etcd cluster at one moment: plain data, read together right before a decision. */
export interface EtcdObservation {
  /** One entry for every ordinal that is wanted, or that has a registration, a pod or a volume claim; in order. */
  readonly members: readonly Member[];
  /** Registered members that belong to no ordinal. They count as voters that are ill, and nobody touches them. */
  readonly unknownMembers: readonly Registration[];
  /** `Confirmed` by a quorum; `Unconfirmed` when only a single member's own copy could be read; else `Unknown`. */
  readonly membership: 'Confirmed' | 'Unconfirmed' | 'Unknown';
  readonly alarms: readonly MemberAlarm[];
  /** No version of a key before the present revision is kept. Only known, and of interest, under a NOSPACE alarm. */
  readonly isCompacted: boolean;
  /** All members that answer have the same data. Only asked for when another one is refused because its data differs. */
  readonly doMembersAgree?: boolean;
  /** The version that all members behave as, such as `3.6.0`; undefined when none of them tells. */
  readonly clusterVersion?: string;
  /** A slow act of this process that etcd shows nobody, such as a defragmentation. */
  readonly inProgress?: { readonly act: string; readonly member: string };
}

export interface Member {
  readonly ordinal: number;
  /** Name of the pod, and of the member. */
  readonly name: string;
  readonly peerUrl: string;
  /** As the etcd cluster lists it; undefined when it does not. */
  readonly registration: Registration | undefined;
  /** What it said of itself; undefined when it did not answer. */
  readonly status: MemberStatus | undefined;
  /** Why it did not answer. */
  readonly problem?: string;
  readonly pod: MemberPod | undefined;
  readonly claim: MemberClaim | undefined;
}

export interface Registration {
  /** A 64-bit number in decimal: never a JavaScript number, which would lose digits. `etcdctl` prints it in hex. */
  readonly id: string;
  /** Empty until a member that was added has started for the first time. */
  readonly name: string;
  readonly isLearner: boolean;
  readonly peerUrls: readonly string[];
}

export interface MemberStatus {
  readonly memberId: string;
  /** Id of the etcd cluster, in decimal as all ids. */
  readonly clusterId: string;
  readonly version: string;
  /** Undefined when it knows of no leader. */
  readonly leaderId: string | undefined;
  readonly raftTerm: number;
  /** Index of the last entry that it knows to be committed. */
  readonly raftIndex: number;
  readonly raftAppliedIndex: number;
  /** Version of the keyspace; comparable between members. */
  readonly revision: number;
  readonly dbSizeBytes: number;
  /** What would be left of the database after defragmentation. */
  readonly dbSizeInUseBytes: number;
  readonly errors: readonly string[];
}

export interface MemberPod {
  readonly uid: string;
  /** Revision of the StatefulSet's template that it was made from. */
  readonly revision: string;
  readonly isTerminating: boolean;
  /** Whether etcd's process runs, says the kubelet; false for a pod that waits to be started again. */
  readonly isRunning: boolean;
  /** Whether Services lead to it, which is some seconds after it is well; when missing they may. */
  readonly isReady?: boolean;
  /** How often etcd's process was started again in this pod; never when missing. */
  readonly restarts?: number;
  /** What etcd said about its data when it ended last. */
  readonly damage?: Damage | undefined;
}

export interface MemberClaim {
  /** Id of the member whose data it holds, as we once marked it; undefined for a claim nobody has answered from. */
  readonly memberId: string | undefined;
  /** It is kept for that member, a founding one, which has not answered yet: whether there is data is not known. */
  readonly isReserved?: boolean;
  /** The volume, or the one node that has it, is gone for good. */
  readonly isLost: boolean;
}

export interface MemberAlarm {
  /** `0` when etcd could not say whose it is. */
  readonly memberId: string;
  readonly alarm: 'Nospace' | 'Corrupt';
}

/** How many entries a member may be behind and still count: some are written between one status and the next. */
export const caughtUpEntries = 1_000;

/** The members with a vote that belong to an ordinal. */
export function votersOf({ members }: EtcdObservation): readonly Member[] {
  return members.filter(({ registration }) => registration?.isLearner === false);
}

export function learnersOf({ members }: EtcdObservation): readonly Member[] {
  return members.filter(({ registration }) => registration?.isLearner === true);
}

/** Number of members with a vote, also of those that are none of ours. */
export function voterCount(observation: EtcdObservation): number {
  return votersOf(observation).length + observation.unknownMembers.filter(({ isLearner }) => !isLearner).length;
}

/** How many of `voters` members have to agree. */
export function quorumOf(voters: number): number {
  return Math.floor(voters / 2) + 1;
}

/** The member that leads, if it answers and a voter of the newest term says so: an old leader may not know better. */
export function leaderOf(observation: EtcdObservation): Member | undefined {
  const statuses = votersOf(observation).flatMap(({ status }) => (status ? [status] : []));
  const term = Math.max(...statuses.map(({ raftTerm }) => raftTerm));
  const leaderId = statuses.find((status) => status.raftTerm === term && status.leaderId !== undefined)?.leaderId;
  return votersOf(observation).find(({ registration, status }) => status && registration?.id === leaderId);
}

/** Whether a member has applied what the cluster has committed, but for the last {@link caughtUpEntries}. */
export function isCaughtUp({ members }: EtcdObservation, { status }: Member): boolean {
  const committed = Math.max(...members.map((member) => member.status?.raftIndex ?? 0));
  return status !== undefined && committed - status.raftAppliedIndex <= caughtUpEntries;
}

/** Whether a member can be relied on: it answers as who it is registered, follows the leader, has its data, stays. */
export function isHealthy(observation: EtcdObservation, member: Member): boolean {
  const { registration, status, pod } = member;
  const leader = leaderOf(observation)?.registration?.id;
  return (
    registration !== undefined &&
    status?.memberId === registration.id &&
    leader !== undefined &&
    status.leaderId === leader &&
    pod?.isTerminating !== true &&
    !isCorrupt(observation, member) &&
    isCaughtUp(observation, member)
  );
}

export function healthyVoters(observation: EtcdObservation): readonly Member[] {
  return votersOf(observation).filter((member) => isHealthy(observation, member));
}

/** Whether etcd can decide anything now, and who its members are is certain. */
export function hasQuorum(observation: EtcdObservation): boolean {
  return (
    observation.membership === 'Confirmed' && healthyVoters(observation).length >= quorumOf(voterCount(observation))
  );
}

/** Whether the data of a member is wrong, and that of the others is not. */
export function isCorrupt({ alarms, doMembersAgree }: EtcdObservation, member: Member): boolean {
  const { registration } = member;
  if (alarms.some(({ alarm, memberId }) => alarm === 'Corrupt' && memberId === registration?.id)) return true;
  return doMembersAgree === true && damageOf(member)?.kind === 'Different';
}

/** How often etcd may end for its data before that is believed. */
const triesOnDamage = 2;

/** What is wrong with the data of a member that does not start on it, again and again. */
export function damageOf({ registration, status, pod }: Member): Damage | undefined {
  // What the pod could not start on was left by the member that had this place before.
  if (registration?.name === '') return undefined;
  if (status || !pod || pod.isRunning || (pod.restarts ?? 0) < triesOnDamage) return undefined;
  return pod.damage;
}

/**
 * How often a founding member may fail to start before it is taken for one that cannot: after its data was lost before
 * anybody could mark its volume. Much fewer happen while names of other members are not known yet.
 */
const triesOfFounder = 4;

/** What has become of the data that a registered member once stored, as the end of a sentence; undefined when it has it. */
export function lossOf(member: Member): string | undefined {
  if (!member.registration) return undefined;
  const damage = damageOf(member);
  if (damage?.kind === 'Unreadable') return damage.what;
  return isGone(member) ? 'is gone' : undefined;
}

/** Whether what a registered member once stored is there no more, or cannot be read. */
export function isDataLost(member: Member): boolean {
  return lossOf(member) !== undefined;
}

/**
 * Whether what a registered member once stored is gone. One that answers has it still. A claim without a mark below a
 * member that was started before is a new, empty one that took the place of the claim somebody deleted: etcd refuses to
 * run on it, as that would break promises the member made. Only when it has failed so: a new member may be known to its
 * peers by name before the kubelet tells that it runs.
 */
function isGone({ registration, status, claim, pod }: Member): boolean {
  if (!registration || status?.memberId === registration.id) return false;
  // It has not stored anything yet.
  if (registration.name === '') return false;
  if (claim?.isLost) return true;
  const failures = pod?.isRunning === false ? (pod.restarts ?? 0) : 0;
  if (claim?.isReserved && claim.memberId === registration.id) return failures >= triesOfFounder;
  if (claim?.memberId !== undefined) return claim.memberId !== registration.id;
  return claim === undefined || failures > 0;
}
