import { type EtcdObservation, isDataLost, isHealthy, leaderOf } from './members.ts';
import type { Decision, EtcdStep } from './steps.ts';
import { usedBytes } from './volumes.ts';

/** The latest observation of an etcd cluster, and the resulting decision. */
export interface EtcdReport {
  readonly observation: EtcdObservation;
  readonly decision: Decision;
  /** Percent of the quota in use, rounded down to a multiple of five; undefined while no member answers. */
  readonly quotaUsage?: number | undefined;
  /** Why the last step failed, if it did. */
  readonly problem?: string | undefined;
  /** When this process last began to defragment a member, whether or not that succeeded. */
  readonly defragmentationAttemptedAt?: Date | undefined;
  /** When this process last defragmented a member. */
  readonly defragmentedAt?: Date | undefined;
}

/** How full etcd is, in the precision that phases and users need. */
export function quotaUsage(observation: EtcdObservation, quotaBytes: number): number | undefined {
  const used = usedBytes(observation);
  return used === undefined ? undefined : 5 * Math.floor((20 * used) / quotaBytes);
}

/** The usage for the status: lowered only by more than five percent, so that objects that come and go do not write it. */
export function reportedQuotaUsage(usage: number, previous: number | undefined): number {
  const most = Math.min(100, usage);
  return previous !== undefined && most <= previous && most >= previous - 5 ? previous : most;
}

/** Existing and desired members, without ordinals that were never used. */
export function withoutUnusedOrdinals(observation: EtcdObservation, replicas: number): EtcdObservation {
  const members = observation.members.filter(
    ({ ordinal, pod, claim, registration }) => ordinal < replicas || pod || claim || registration,
  );
  return { ...observation, members };
}

/**
 * The part of a report that phases and users act on, as text to compare. Revisions, indexes and sizes change all the
 * time, and a reconcile for each change would be one every half minute without need. So would one for each attempt that
 * fails as the one before.
 */
export function reportFingerprint({
  observation,
  decision,
  problem,
  quotaUsage: usage,
  defragmentedAt,
}: EtcdReport): string {
  const leader = leaderOf(observation)?.name;
  const members = observation.members.map((member) => [
    member.name,
    member.registration?.id,
    member.registration?.isLearner,
    member.registration?.name,
    member.status?.version,
    member.status?.clusterId,
    isHealthy(observation, member),
    isDataLost(member),
  ]);
  const { membership, unknownMembers, alarms, clusterVersion } = observation;
  return JSON.stringify([
    membership,
    clusterVersion,
    leader,
    members,
    unknownMembers,
    alarms,
    reported(decision),
    problem,
    usage,
    defragmentedAt,
  ]);
}

/** Marks are internal bookkeeping of the operator, which ends within a moment. */
function reported(decision: Decision): unknown {
  if (decision.kind !== 'act') return decision;
  return isBookkeeping(decision.step) ? 'bookkeeping' : decision.step;
}

export function isBookkeeping({ kind }: EtcdStep): boolean {
  return kind === 'markVolume' || kind === 'reserveVolume';
}
