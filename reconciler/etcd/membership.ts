import { guarded } from './leadership.ts';
import {
  type EtcdObservation,
  hasQuorum,
  healthyVoters,
  isCorrupt,
  isHealthy,
  damageOf,
  learnersOf,
  lossOf,
  type Member,
  voterCount,
  votersOf,
} from './members.ts';
import { type Act, type Guard, mayDisrupt } from './quorum-guard.ts';
import { act, type Decision, settled, wait } from './steps.ts';

/** The mark of a claim whose data belongs to nobody any more; no member of etcd has this id. */
export const noMember = '0';

interface Situation {
  readonly observation: EtcdObservation;
  readonly wantedReplicas: number;
  readonly guard: Guard;
}

type Rule = (situation: Situation) => Decision | undefined;

/**
 * The one thing to do next so that exactly the ordinals below `wantedReplicas` are members with a vote and their data.
 * A member that is lost is removed first and then joins anew: its place cannot be taken twice, and a vote that is never
 * cast only raises what the others need. New members join without a vote and get it when they have all data.
 */
export function planMembershipStep(
  observation: EtcdObservation,
  wantedReplicas: number,
  guard: Guard = mayDisrupt,
): Decision {
  for (const rule of rules) {
    const decision = rule({ observation, wantedReplicas, guard });
    if (decision) return decision;
  }
  return settled;
}

/**
 * How many pods the StatefulSet should have: all that are members. The pod of a new one comes when it was added, so that
 * its configuration is there before it starts.
 */
export function podsFor({ members }: Pick<EtcdObservation, 'members'>): number {
  const registered = members.filter(({ registration }) => registration).map(({ ordinal }) => ordinal + 1);
  return Math.max(1, ...registered);
}

const cannotDecide: Rule = ({ observation }) => {
  if (observation.membership === 'Unknown') return wait('no etcd member answers');
  if (!hasQuorum(observation)) {
    const voters = voterCount(observation);
    return wait(`etcd has no quorum: ${healthyVoters(observation).length} of ${voters} members are well`);
  }
  const [unknownMember] = observation.unknownMembers;
  if (unknownMember)
    return wait(`etcd member ${unknownMember.name || unknownMember.id} is none of ours: remove it with etcdctl`);
  return isUnknownWhoIsCorrupt(observation)
    ? wait('members of etcd differ, and it cannot say whose data is corrupt: restore a backup')
    : undefined;
};

function isUnknownWhoIsCorrupt({ alarms, members, doMembersAgree }: EtcdObservation): boolean {
  const corrupt = alarms.filter(({ alarm }) => alarm === 'Corrupt');
  if (corrupt.length > 0 && corrupt.every(({ memberId }) => memberId === '0')) return true;
  return doMembersAgree === false && members.some((member) => damageOf(member)?.kind === 'Different');
}

/**
 * At its formation every member of etcd is registered, also one that has not started yet, whose empty volume must not
 * be taken for one that lost its data. Those come before any volume is marked: then formation is over for good, also
 * when the operator dies in between.
 */
const reserveVolume: Rule = ({ observation }) => {
  if (!isForming(observation)) return undefined;
  const awaited = observation.members.find(
    ({ registration, status, claim }) =>
      registration && registration.name !== '' && !status && claim && claim.memberId === undefined,
  );
  return awaited?.registration && act({ kind: 'ReserveVolume', member: awaited.name, id: awaited.registration.id });
};

const markVolume: Rule = ({ observation: { members } }) => {
  const unmarked = members.find(
    ({ registration, status, claim }) =>
      registration &&
      status?.memberId === registration.id &&
      claim &&
      (claim.memberId !== registration.id || claim.isReserved === true),
  );
  return unmarked?.registration && act({ kind: 'MarkVolume', member: unmarked.name, id: unmarked.registration.id });
};

/**
 * A corruption alarm stops all writes, also when the member it was about has gone. One of nobody beside one that names a
 * member is of a moment before: while another member compacts, etcd cannot say yet who differs. It says so again if it
 * still cannot.
 */
const forgetCorruption: Rule = ({ observation: { alarms, members } }) => {
  const left = alarms.find(
    ({ alarm, memberId }) => alarm === 'Corrupt' && members.every(({ registration }) => registration?.id !== memberId),
  );
  const via = members.find(({ status, registration }) => status && registration?.isLearner === false);
  return left && via && act({ kind: 'Disarm', member: via.name, alarm: 'Corrupt', memberId: left.memberId });
};

const finishLearner: Rule = (situation) => {
  const { observation, wantedReplicas } = situation;
  const [learner] = learnersOf(observation);
  if (!learner?.registration) return undefined;
  const { id, name } = learner.registration;
  if (learner.ordinal >= wantedReplicas) return remove(situation, learner, 'it is not wanted any more', 'Asked');
  const loss = unusable(observation, learner);
  if (loss) return remove(situation, learner, loss, 'Unavoidable');
  // Left behind by the member that had this place before: the new one could not start on it.
  if (name === '' && holdsOldData(learner)) return act({ kind: 'DiscardVolume', member: learner.name });
  if (isHealthy(observation, learner)) return act({ kind: 'Promote', member: learner.name, id });
  return wait(`${learner.name} is joining${learner.problem ? `: ${learner.problem}` : ''}`);
};

const removeLost: Rule = (situation) => {
  const { observation } = situation;
  for (const voter of votersOf(observation)) {
    const loss = unusable(observation, voter);
    if (loss) return remove(situation, voter, loss, 'Unavoidable');
  }
  return undefined;
};

/** Why a member cannot go on with its data, as a sentence; undefined when it can. */
function unusable(observation: EtcdObservation, member: Member): string | undefined {
  const loss = lossOf(member) ?? (isCorrupt(observation, member) ? 'is corrupt' : undefined);
  return loss && `its data ${loss}`;
}

/** Only when its pod is gone, too: the StatefulSet would make another claim for it. */
const discardOld: Rule = ({ observation: { members } }) => {
  const left = members.filter((member) => !member.registration && holdsOldData(member));
  const old = left.find(({ pod }) => !pod);
  if (old) return act({ kind: 'DiscardVolume', member: old.name });
  return left[0] && wait(`the pod of ${left[0].name} is being removed`);
};

/** etcd itself refuses new members unless all voters are connected; asking it in vain would only say so less clearly. */
const addMissing: Rule = ({ observation, wantedReplicas }) => {
  const missing = observation.members.find(({ ordinal, registration }) => ordinal < wantedReplicas && !registration);
  if (!missing) return undefined;
  const healthy = healthyVoters(observation).length;
  const voters = voterCount(observation);
  if (healthy < voters) return wait(`${missing.name} joins when all members are well: ${healthy} of ${voters} are`);
  if (observation.inProgress)
    return wait(`${observation.inProgress.act} of ${observation.inProgress.member} is under way`);
  return act({ kind: 'AddLearner', member: missing.name, peerUrl: missing.peerUrl });
};

const removeSurplus: Rule = (situation) => {
  const surplus = votersOf(situation.observation).findLast(({ ordinal }) => ordinal >= situation.wantedReplicas);
  return surplus && remove(situation, surplus, 'it is not wanted any more', 'Asked');
};

const rules: readonly Rule[] = [
  cannotDecide,
  reserveVolume,
  markVolume,
  forgetCorruption,
  finishLearner,
  removeLost,
  addMissing,
  removeSurplus,
  discardOld,
];

function remove(situation: Situation, member: Member, because: string, cause: Act['cause']): Decision {
  const { registration, claim } = member;
  if (!registration) return settled;
  const { observation, guard } = situation;
  // Without a mark nobody could tell later that the claim may hold the data of a member that was removed.
  const decision =
    claim && claim.memberId === undefined && !claim.isLost
      ? act({ kind: 'MarkVolume', member: member.name, id: noMember })
      : act({ kind: 'Remove', member: member.name, id: registration.id, because });
  return guarded({ observation, guard }, member, { kind: 'Remove', cause }, decision);
}

function holdsOldData({ claim }: Member): boolean {
  return claim !== undefined && (claim.isLost || claim.memberId !== undefined);
}

/** `initial-cluster` of the configuration of a member that joins: those that are registered, and itself. */
export function initialCluster({ members }: EtcdObservation, joining: string): string {
  return members
    .filter(({ name, registration }) => registration || name === joining)
    .map(({ name, peerUrl }) => `${name}=${peerUrl}`)
    .join(',');
}

/** Whether a member has yet to start for the first time, and so needs to be told who the others are. */
export function isAwaited(observation: EtcdObservation, { registration, status, claim }: Member): boolean {
  if (!registration || status) return false;
  return registration.name === '' || claim?.isReserved === true || isForming(observation);
}

/** No volume is known to hold data yet. */
function isForming({ members }: EtcdObservation): boolean {
  return members.every(({ claim }) => claim?.memberId === undefined || claim.isReserved === true);
}

/**
 * Whether etcd has ever been formed here, as far as volumes tell; then no member may start as one of a new cluster,
 * which would be an empty one. When all volumes are gone they tell nothing: a record elsewhere has to.
 */
export function wasFormed(members: readonly Pick<Member, 'claim'>[]): boolean {
  return members.some(({ claim }) => claim?.memberId !== undefined);
}
