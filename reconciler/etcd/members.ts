import type { Damage } from './damage.ts';

/** The observed state of an etcd cluster: plain data, read together right before a decision. */
export interface EtcdObservation {
  /**
   * One entry for every ordinal in the desired state, or with a registration, a pod or a volume claim; sorted by
   * ordinal.
   */
  readonly members: readonly Member[];
  /** Registered members without an ordinal. They count as unhealthy voters, and the operator does not change them. */
  readonly unknownMembers: readonly Registration[];
  /** `confirmed` by a quorum; `unconfirmed` if only a single member's own copy could be read; otherwise `unknown`. */
  readonly membership: 'confirmed' | 'unconfirmed' | 'unknown';
  readonly alarms: readonly MemberAlarm[];
  /** No version of a key before the current revision exists. Only known, and relevant, during a NOSPACE alarm. */
  readonly isCompacted: boolean;
  /**
   * All answering members have the same data. Only checked when another member is rejected because its data differs.
   */
  readonly doMembersAgree?: boolean;
  /** The cluster version, as which all members behave, such as `3.6.0`; undefined if no member reports it. */
  readonly clusterVersion?: string;
  /** No etcd was ever formed, by any record, so that no member serves or has data; unset if that is not known. */
  readonly isNew?: boolean;
  /** Connections that voters lack. Only looked for before the pod of a member is replaced. */
  readonly missingConnections?: readonly MissingConnection[];
  /** A slow act of this process that etcd does not show, such as a defragmentation. */
  readonly inProgress?: { readonly act: string; readonly member: string };
}

/** A connection that a member does not have, although the other one may reach it. */
export interface MissingConnection {
  readonly from: string;
  readonly to: string;
}

export interface Member {
  readonly ordinal: number;
  /** Name of the pod, and of the member. */
  readonly name: string;
  readonly peerUrl: string;
  /** Its entry in etcd's member list; undefined if it is not listed. */
  readonly registration: Registration | undefined;
  /** Its status; undefined if it did not answer. */
  readonly status: MemberStatus | undefined;
  /** Why it did not answer. */
  readonly problem?: string;
  readonly pod: MemberPod | undefined;
  readonly claim: MemberClaim | undefined;
}

export interface Registration {
  /**
   * A 64-bit number in decimal. Never a JavaScript number, which would lose digits. `etcdctl` prints it in hexadecimal.
   */
  readonly id: string;
  /** Empty until an added member has started for the first time. */
  readonly name: string;
  readonly isLearner: boolean;
  readonly peerUrls: readonly string[];
}

export interface MemberStatus {
  readonly memberId: string;
  /** ID of the etcd cluster, in decimal like all IDs. */
  readonly clusterId: string;
  readonly version: string;
  /** Undefined if it knows no leader. */
  readonly leaderId: string | undefined;
  readonly raftTerm: number;
  /** Index of the last entry that it knows is committed. */
  readonly raftIndex: number;
  readonly raftAppliedIndex: number;
  /** Revision of the keyspace; comparable between members. */
  readonly revision: number;
  readonly dbSizeBytes: number;
  /** Size of the database after a defragmentation. */
  readonly dbSizeInUseBytes: number;
  readonly errors: readonly string[];
}

export interface MemberPod {
  readonly uid: string;
  /** Revision of the StatefulSet's template from which it was created. */
  readonly revision: string;
  readonly isTerminating: boolean;
  /** Whether the kubelet reports that etcd's process runs; false for a pod that waits for a restart. */
  readonly isRunning: boolean;
  /** Whether Services route to it, which is some seconds after it becomes healthy; may be true if unset. */
  readonly isReady?: boolean;
  /** Number of restarts of etcd's process in this pod; none if unset. */
  readonly restarts?: number;
  /** What etcd reported about its data when it last terminated. */
  readonly damage?: Damage | undefined;
}

export interface MemberClaim {
  /**
   * ID of the member whose data it holds, as the operator has marked it; undefined before a member with this claim has
   * answered.
   */
  readonly memberId: string | undefined;
  /**
   * It is reserved for that founding member, which has not answered yet. It is not known whether the volume contains
   * data.
   */
  readonly isReserved?: boolean;
  /** The volume, or the only node that can mount it, is permanently lost. */
  readonly isLost: boolean;
  /** It is being deleted, and Kubernetes keeps it only until its pod has ended; not if unset. */
  readonly isTerminating?: boolean;
}

export interface MemberAlarm {
  /** `0` if etcd does not know the member. */
  readonly memberId: string;
  readonly alarm: 'Nospace' | 'Corrupt';
}

/**
 * How many entries a member may be behind and still count as caught up: some are written between two status requests.
 */
const caughtUpEntries = 1_000;

/** Members with a vote and an ordinal. */
export function votersOf({ members }: EtcdObservation): readonly Member[] {
  return members.filter(({ registration }) => registration?.isLearner === false);
}

export function learnersOf({ members }: EtcdObservation): readonly Member[] {
  return members.filter(({ registration }) => registration?.isLearner === true);
}

/** Number of members with a vote, including those that the operator did not create. */
export function voterCount(observation: EtcdObservation): number {
  return votersOf(observation).length + observation.unknownMembers.filter(({ isLearner }) => !isLearner).length;
}

/** Number of members that must agree, out of `voters`. */
export function quorumOf(voters: number): number {
  return Math.floor(voters / 2) + 1;
}

/** The leader, if it answers and a voter of the newest term reports it. A former leader may not know its successor. */
export function leaderOf(observation: EtcdObservation): Member | undefined {
  const statuses = votersOf(observation).flatMap(({ status }) => (status ? [status] : []));
  const term = Math.max(...statuses.map(({ raftTerm }) => raftTerm));
  const leaderId = statuses.find((status) => status.raftTerm === term && status.leaderId !== undefined)?.leaderId;
  return votersOf(observation).find(({ registration, status }) => status && registration?.id === leaderId);
}

/** Whether a member has applied what the cluster has committed, except for the last {@link caughtUpEntries}. */
export function isCaughtUp({ members }: EtcdObservation, { status }: Member): boolean {
  const committed = Math.max(...members.map((member) => member.status?.raftIndex ?? 0));
  return status !== undefined && committed - status.raftAppliedIndex <= caughtUpEntries;
}

/**
 * Whether a member is reliable: it answers with its registered ID, follows the leader, has its data and is not
 * terminating.
 */
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

/** Whether etcd can commit writes now, and its membership is certain. */
export function hasQuorum(observation: EtcdObservation): boolean {
  return (
    observation.membership === 'confirmed' && healthyVoters(observation).length >= quorumOf(voterCount(observation))
  );
}

/** Whether the data of a member is wrong, and that of the others is correct. */
export function isCorrupt({ alarms, doMembersAgree }: EtcdObservation, member: Member): boolean {
  const { registration } = member;
  if (alarms.some(({ alarm, memberId }) => alarm === 'Corrupt' && memberId === registration?.id)) return true;
  return doMembersAgree === true && damageOf(member)?.kind === 'different';
}

/** Number of terminations because of its data after which a member counts as damaged. */
const triesOnDamage = 2;

/**
 * Whether the data of a member ends with its pod, because its volume claim is being deleted. What was never formed, or
 * belongs to no member, is no loss.
 */
export function endsWithItsPod(
  { isNew = false, membership }: EtcdObservation,
  { registration, claim }: Member,
): boolean {
  if (!claim?.isTerminating || claim.isLost || isNew) return false;
  return registration !== undefined || membership !== 'confirmed';
}

/** The problem with the data of a member that repeatedly fails to start with it. */
export function damageOf({ registration, status, pod }: Member): Damage | undefined {
  // The pod could not start with data that the previous member at this ordinal left.
  if (registration?.name === '') return undefined;
  if (status || !pod || pod.isRunning || (pod.restarts ?? 0) < triesOnDamage) return undefined;
  return pod.damage;
}

/**
 * Number of failed starts after which a member that has never answered counts as lost: its data was lost before its
 * volume could be marked. Far fewer failures occur while the names of other members do not resolve yet.
 */
export const triesOfNewMember = 4;

/** Number of times that etcd's process has ended in the pod of a member; 0 while it runs. */
export function failedStarts({ pod }: Pick<Member, 'pod'>): number {
  return pod?.isRunning === false ? (pod.restarts ?? 0) : 0;
}

/**
 * What happened to the data that a registered member once stored, as the end of a sentence; undefined if it has its
 * data.
 */
export function lossOf(member: Member): string | undefined {
  if (!member.registration) return undefined;
  const damage = damageOf(member);
  if (damage?.kind === 'unreadable') return damage.what;
  return isGone(member) ? 'is gone' : undefined;
}

/** Whether the stored data of a registered member is missing or cannot be read. */
export function isDataLost(member: Member): boolean {
  return lossOf(member) !== undefined;
}

/**
 * Whether the stored data of a registered member is missing. A member that answers still has it. A claim without a
 * mark, for a member that was started before, is a new empty one that replaced a deleted claim. etcd refuses to run
 * with it, because that would break promises of the member. It counts only after such a failure: the peers may know the
 * name of a new member before the kubelet reports that it runs.
 */
function isGone(member: Member): boolean {
  const { registration, status, claim } = member;
  if (!registration || status?.memberId === registration.id) return false;
  // It has not stored anything yet.
  if (registration.name === '') return false;
  if (claim?.isLost) return true;
  const failures = failedStarts(member);
  if (claim?.isReserved && claim.memberId === registration.id) return failures >= triesOfNewMember;
  if (claim?.memberId !== undefined) return claim.memberId !== registration.id;
  return claim === undefined || failures > 0;
}
