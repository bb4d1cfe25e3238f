import { type EtcdObservation, isDataLost, isHealthy, leaderOf } from './members.ts';
import type { Decision, EtcdStep } from './steps.ts';
import { usedBytes } from './volumes.ts';

/** What was last seen of an etcd cluster, and what that led to. */
export interface EtcdReport {
  readonly observation: EtcdObservation;
  readonly decision: Decision;
  /** Sixteenths of the quota that are in use, rounded down; undefined while no member answers. */
  readonly fill?: number | undefined;
  /** Why the last step failed, when it did. */
  readonly problem?: string | undefined;
  /** When a member was defragmented last by this process. */
  readonly defragmentedAt?: Date | undefined;
}

/** How full etcd is, as coarse as phases and people want to know it. */
export function fillOf(observation: EtcdObservation, quotaBytes: number): number | undefined {
  const used = usedBytes(observation);
  return used === undefined ? undefined : Math.floor((16 * used) / quotaBytes);
}

/** Members that there are, or that should be: places nobody has been at are left out. */
export function withoutVacancies(observation: EtcdObservation, replicas: number): EtcdObservation {
  const members = observation.members.filter(
    ({ ordinal, pod, claim, registration }) => ordinal < replicas || pod || claim || registration,
  );
  return { ...observation, members };
}

/**
 * The part of a report that phases and people act upon, as text to compare. Revisions, indexes and sizes change all the
 * time, and a pass for each of them would be one every half minute for nothing.
 */
export function significance({ observation, decision, problem, fill, defragmentedAt }: EtcdReport): string {
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
    told(decision),
    problem,
    fill,
    defragmentedAt,
  ]);
}

/** Marks are our own bookkeeping, over in a moment. */
function told(decision: Decision): unknown {
  if (decision.kind !== 'Act') return decision;
  return isBookkeeping(decision.step) ? 'bookkeeping' : decision.step;
}

export function isBookkeeping({ kind }: EtcdStep): boolean {
  return kind === 'MarkVolume' || kind === 'ReserveVolume';
}
