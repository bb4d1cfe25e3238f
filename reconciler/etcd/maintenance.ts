import { guarded } from './leadership.ts';
import { type EtcdObservation, leaderOf, type Member, votersOf } from './members.ts';
import { type Act, type Guard, mayDisrupt } from './quorum-guard.ts';
import { act, type Decision, settled, wait } from './steps.ts';

/** Defragmentation stops a member for the time it takes to write its database anew, so it must be worth it. */
export const worthDefragmenting = {
  /** Share of the database file that holds nothing. */
  share: 0.45,
  bytes: 100 * 1024 ** 2,
} as const;

/** What of the quota must be free before writes are let in again, lest the first of them raise the alarm anew. */
const freeShareToWrite = 0.05;

/**
 * What makes a defragmentation necessary: etcd's quota counts the file and not what is in use of it. Where more is in use
 * than this leaves, the volume grows instead.
 */
const necessary = { fileShareOfQuota: 0.8, freeShareOfQuota: 0.2 } as const;

export interface UpkeepOptions {
  readonly quotaBytes: number;
  readonly guard?: Guard;
}

/** The member to defragment next. Nothing during a rollout or a change of members: ask for those first. */
export function planDefragmentation(
  observation: EtcdObservation,
  { quotaBytes, guard = mayDisrupt }: UpkeepOptions,
): Decision {
  const isNecessary = (member: Member) =>
    dbSize(member) >= necessary.fileShareOfQuota * quotaBytes &&
    reclaimableBytes(member) >= necessary.freeShareOfQuota * quotaBytes;
  // Also of a single member: a moment without answers is better than an alarm, which stops all writes.
  const before = defragment(observation, guard, 'Unavoidable', isNecessary);
  if (before.kind !== 'Settled') return before;
  return defragment(observation, guard, 'Upkeep', (member) => {
    const free = reclaimableBytes(member);
    return free >= worthDefragmenting.bytes && free >= worthDefragmenting.share * dbSize(member);
  });
}

/**
 * The way out of a full database, which takes no writes until every alarm is disarmed: forget old versions, give their
 * space back on every member, then disarm. Where that frees too little, it says so and waits: for a larger quota, or
 * for somebody to delete keys, which etcd still lets happen.
 */
export function planSpaceStep(observation: EtcdObservation, quotaBytes: number, guard: Guard = mayDisrupt): Decision {
  const alarm = observation.alarms.find((one) => one.alarm === 'Nospace');
  if (!alarm) return settled;
  const leader = leaderOf(observation);
  if (!leader?.status) return wait('etcd is full, and has no leader to cure it with');
  if (!observation.isCompacted) {
    return act({ kind: 'Compact', member: leader.name, revision: leader.status.revision });
  }
  // Even a little is worth it now, but what is left right after a defragmentation is not.
  const isLoose = (member: Member) => reclaimableBytes(member) > 0.1 * dbSize(member);
  const defragmentation = defragment(observation, guard, 'Unavoidable', isLoose);
  if (defragmentation.kind !== 'Settled') return defragmentation;
  const largest = Math.max(...observation.members.map(dbSize));
  if (largest > quotaBytes * (1 - freeShareToWrite)) {
    return wait(`etcd is full: ${largest} of ${quotaBytes} bytes are in use. Delete objects, or raise the volume size`);
  }
  return act({ kind: 'Disarm', member: leader.name, alarm: 'Nospace', memberId: alarm.memberId });
}

function defragment(
  observation: EtcdObservation,
  guard: Guard,
  cause: Act['cause'],
  isWorthIt: (member: Member) => boolean,
): Decision {
  const leader = leaderOf(observation)?.name;
  const rank = ({ name }: Member) => (name === leader ? 1 : 0);
  const [next] = votersOf(observation)
    .filter((member) => member.status && isWorthIt(member))
    .sort((one, other) => rank(one) - rank(other) || reclaimableBytes(other) - reclaimableBytes(one));
  if (!next) return settled;
  const step = act({ kind: 'Defragment', member: next.name });
  return guarded({ observation, guard }, next, { kind: 'Defragment', cause }, step);
}

function reclaimableBytes({ status }: Member): number {
  return status ? status.dbSizeBytes - status.dbSizeInUseBytes : 0;
}

function dbSize({ status }: Member): number {
  return status?.dbSizeBytes ?? 0;
}
