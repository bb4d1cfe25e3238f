import { guarded } from './leadership.ts';
import { type EtcdObservation, leaderOf, type Member, votersOf } from './members.ts';
import { type Act, type Guard, mayDisrupt } from './quorum-guard.ts';
import { act, type Decision, settled, wait } from './steps.ts';

/** Defragmentation stops a member while it rewrites its database, so it must be worth it. */
const worthDefragmenting = {
  /** Share of the database file that is free. */
  share: 0.45,
  bytes: 100 * 1024 ** 2,
} as const;

/**
 * Share of the quota that must be free before the alarm is disarmed. Otherwise the first writes would raise it again.
 */
const freeShareToWrite = 0.05;

/**
 * When a defragmentation is necessary: etcd's quota counts the file, not the space in use. If more is in use than this
 * leaves, the volume grows instead.
 */
const necessary = { fileShareOfQuota: 0.8, freeShareOfQuota: 0.2 } as const;

/** The member to defragment next. Call it only without a rollout or a membership change in progress. */
export function planDefragmentation(
  observation: EtcdObservation,
  quotaBytes: number,
  guard: Guard = mayDisrupt,
): Decision {
  const isNecessary = (member: Member) =>
    dbSize(member) >= necessary.fileShareOfQuota * quotaBytes &&
    reclaimableBytes(member) >= necessary.freeShareOfQuota * quotaBytes;
  // Also applies to a single member: a short outage is better than an alarm, which stops all writes.
  const before = defragment(observation, guard, 'unavoidable', isNecessary);
  if (before.kind !== 'settled') return before;
  return defragment(observation, guard, 'upkeep', (member) => {
    const free = reclaimableBytes(member);
    return free >= worthDefragmenting.bytes && free >= worthDefragmenting.share * dbSize(member);
  });
}

/**
 * Recovers a full database, which accepts no writes until every alarm is disarmed: compact old versions, defragment
 * every member, then disarm. If that frees too little, it reports so and waits for a larger quota or for deletions of
 * keys, which etcd still accepts.
 */
export function planSpaceStep(observation: EtcdObservation, quotaBytes: number, guard: Guard = mayDisrupt): Decision {
  const alarm = observation.alarms.find((one) => one.alarm === 'Nospace');
  if (!alarm) return settled;
  const leader = leaderOf(observation);
  if (!leader?.status) return wait('etcd is full and has no leader, without which the operator cannot free space');
  if (!observation.isCompacted) {
    return act({ kind: 'compact', member: leader.name, revision: leader.status.revision });
  }
  // Even little free space is worth it now, but not what remains right after a defragmentation.
  const isLoose = (member: Member) => reclaimableBytes(member) > 0.1 * dbSize(member);
  const defragmentation = defragment(observation, guard, 'unavoidable', isLoose);
  if (defragmentation.kind !== 'settled') return defragmentation;
  const largest = Math.max(...observation.members.map(dbSize));
  if (largest > quotaBytes * (1 - freeShareToWrite)) {
    return wait(`etcd is full: ${largest} of ${quotaBytes} bytes are in use: delete objects, or raise the volume size`);
  }
  return act({ kind: 'disarm', member: leader.name, alarm: 'Nospace', memberId: alarm.memberId });
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
  const step = act({ kind: 'defragment', member: next.name });
  return guarded({ observation, guard }, next, { kind: 'defragment', cause }, step);
}

function reclaimableBytes({ status }: Member): number {
  return status ? status.dbSizeBytes - status.dbSizeInUseBytes : 0;
}

function dbSize({ status }: Member): number {
  return status?.dbSizeBytes ?? 0;
}
