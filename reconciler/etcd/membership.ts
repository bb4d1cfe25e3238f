import { firstMatch } from '../engine/first-match.ts';
import { guarded } from './leadership.ts';
import {
  type EtcdObservation,
  endsWithItsPod,
  hasQuorum,
  healthyVoters,
  isCorrupt,
  failedStarts,
  isHealthy,
  damageOf,
  leaderOf,
  learnersOf,
  lossOf,
  type Member,
  triesOfNewMember,
  voterCount,
  votersOf,
} from './members.ts';
import { type Act, type Guard, mayDisrupt } from './quorum-guard.ts';
import { act, type Decision, settled, wait } from './steps.ts';

/** The mark of a claim whose data belongs to no member any more. No etcd member has this ID. */
export const noMember = '0';

interface MembershipInput {
  readonly observation: EtcdObservation;
  readonly wantedReplicas: number;
  readonly guard: Guard;
}

type Rule = (input: MembershipInput) => Decision | undefined;

/**
 * The one thing to do next so that exactly the ordinals below `wantedReplicas` are voting members with all data. A lost
 * member is removed first and then joins again: no two members can have the same place, and a vote that is never cast
 * only raises the quorum. New members join as learners and are promoted when they have all data.
 */
export function planMembershipStep(
  observation: EtcdObservation,
  wantedReplicas: number,
  guard: Guard = mayDisrupt,
): Decision {
  return firstMatch(rules, { observation, wantedReplicas, guard }) ?? settled;
}

/**
 * Number of pods that the StatefulSet needs for all registered members. The pod of a new member is created after the
 * member is added, so that its configuration exists before it starts.
 */
export function podsFor({ members }: Pick<EtcdObservation, 'members'>): number {
  const registered = members.filter(({ registration }) => registration).map(({ ordinal }) => ordinal + 1);
  return Math.max(1, ...registered);
}

const cannotDecide: Rule = ({ observation }) => {
  if (observation.membership === 'unknown') return wait('no etcd member answers');
  if (!hasQuorum(observation)) {
    const voters = voterCount(observation);
    return wait(`etcd has no quorum: ${healthyVoters(observation).length} of ${voters} members are healthy`);
  }
  const [unknownMember] = observation.unknownMembers;
  if (unknownMember)
    return wait(
      `etcd member ${unknownMember.name || unknownMember.id} was not created by the operator: remove it with etcdctl`,
    );
  return isUnknownWhoIsCorrupt(observation)
    ? wait('the data of etcd members differs, and etcd cannot determine which member is corrupt: restore a backup')
    : undefined;
};

function isUnknownWhoIsCorrupt({ alarms, members, doMembersAgree }: EtcdObservation): boolean {
  const corrupt = alarms.filter(({ alarm }) => alarm === 'Corrupt');
  if (corrupt.length > 0 && corrupt.every(({ memberId }) => memberId === '0')) return true;
  return doMembersAgree === false && members.some((member) => damageOf(member)?.kind === 'different');
}

/**
 * When etcd is formed, every member is registered, including those that have not started yet, whose empty volumes must
 * not be taken for lost data. They are reserved before any volume is marked. After the first mark the formation has
 * ended for good, even if the operator stops in between.
 */
const reserveVolume: Rule = ({ observation }) => {
  if (!isForming(observation)) return undefined;
  const awaited = observation.members.find(
    ({ registration, status, claim }) =>
      registration && registration.name !== '' && !status && claim && claim.memberId === undefined,
  );
  return awaited?.registration && act({ kind: 'reserveVolume', member: awaited.name, id: awaited.registration.id });
};

const markVolume: Rule = ({ observation: { members } }) => {
  const unmarked = members.find(
    ({ registration, status, claim }) =>
      registration &&
      status?.memberId === registration.id &&
      claim &&
      (claim.memberId !== registration.id || claim.isReserved === true),
  );
  return unmarked?.registration && act({ kind: 'markVolume', member: unmarked.name, id: unmarked.registration.id });
};

/**
 * A corruption alarm stops all writes, even after its member was removed. An alarm without a member, beside an alarm
 * with one, is outdated: while another member compacts, etcd cannot determine yet which member differs. It raises the
 * alarm again if it still cannot.
 */
const forgetCorruption: Rule = ({ observation: { alarms, members } }) => {
  const left = alarms.find(
    ({ alarm, memberId }) => alarm === 'Corrupt' && members.every(({ registration }) => registration?.id !== memberId),
  );
  const via = members.find(({ status, registration }) => status && registration?.isLearner === false);
  return left && via && act({ kind: 'disarm', member: via.name, alarm: 'Corrupt', memberId: left.memberId });
};

const finishLearner: Rule = (input) => {
  const { observation, wantedReplicas } = input;
  const [learner] = learnersOf(observation);
  if (!learner?.registration) return undefined;
  const { id, name } = learner.registration;
  if (learner.ordinal >= wantedReplicas)
    return remove(input, learner, 'etcd.replicas no longer includes it', 'requested');
  const loss = unusable(observation, learner);
  if (loss) return remove(input, learner, loss, 'unavoidable');
  const failure = name === '' ? startFailure(learner) : undefined;
  if (failure) return remove(input, learner, failure, 'unavoidable');
  if (isHealthy(observation, learner)) return act({ kind: 'promote', member: learner.name, id });
  return wait(`${learner.name} is joining${learner.problem ? `: ${learner.problem}` : ''}`);
};

/**
 * Why an added member cannot start, as the end of a sentence. It is removed and added again with another ID and an empty
 * volume. Its volume is never emptied while it is registered: it may have confirmed entries to the leader before it
 * reports its name, and etcd never lets a member with this ID start without them.
 */
function startFailure(learner: Member): string | undefined {
  if (holdsOldData(learner)) return 'its volume holds data of another member';
  const failures = failedStarts(learner);
  return failures < triesOfNewMember ? undefined : `it failed to start ${failures} times`;
}

const removeLost: Rule = (input) => {
  const { observation } = input;
  for (const voter of votersOf(observation)) {
    const loss = unusable(observation, voter);
    if (loss) return remove(input, voter, loss, 'unavoidable');
  }
  return undefined;
};

/** Why a member cannot continue with its data, as a sentence; undefined if it can. */
function unusable(observation: EtcdObservation, member: Member): string | undefined {
  const loss = lossOf(member) ?? (isCorrupt(observation, member) ? 'is corrupt' : undefined);
  return loss && `its data ${loss}`;
}

/** Only after the pod is deleted. Otherwise the StatefulSet would create another claim for it. */
const discardOld: Rule = ({ observation: { members } }) => {
  const left = members.filter((member) => !member.registration && holdsOldData(member));
  const old = left.find(({ pod }) => !pod);
  if (old) return act({ kind: 'discardVolume', member: old.name });
  return left[0] && wait(`the pod of ${left[0].name} is being removed`);
};

/** etcd itself refuses new members unless all voters are connected. Waiting instead gives a clearer message. */
const addMissing: Rule = ({ observation, wantedReplicas }) => {
  const missing = observation.members.find(({ ordinal, registration }) => ordinal < wantedReplicas && !registration);
  if (!missing) return undefined;
  // A new member cannot start with data of the previous one. The StatefulSet creates another pod with an empty volume.
  if (holdsOldData(missing)) return act({ kind: 'discardVolume', member: missing.name });
  const healthy = healthyVoters(observation).length;
  const voters = voterCount(observation);
  if (healthy < voters) return wait(`${missing.name} joins when all members are healthy: ${healthy} of ${voters} are`);
  if (observation.inProgress)
    return wait(`${observation.inProgress.act} of ${observation.inProgress.member} is in progress`);
  return act({ kind: 'addLearner', member: missing.name, peerUrl: missing.peerUrl });
};

/**
 * Nothing takes the deletion of a volume claim back. As long as the pod runs, its data can move to another claim by way of the other
 * members, the leader last. An only member waits for others, and members that the spec does not include any more help until all are
 * replaced.
 */
const replaceTerminating: Rule = (input) => {
  const { observation, wantedReplicas } = input;
  const voters = votersOf(observation);
  const leader = leaderOf(observation);
  const going = voters.filter((member) => member.ordinal < wantedReplicas && endsWithItsPod(observation, member));
  const next = going.find((member) => member !== leader) ?? going[0];
  if (!next || voters.length < 2) return undefined;
  return remove(input, next, 'its volume claim is being deleted', 'unavoidable');
};

const removeSurplus: Rule = (input) => {
  const surplus = votersOf(input.observation).findLast(({ ordinal }) => ordinal >= input.wantedReplicas);
  return surplus && remove(input, surplus, 'etcd.replicas no longer includes it', 'requested');
};

const rules: readonly Rule[] = [
  cannotDecide,
  reserveVolume,
  markVolume,
  forgetCorruption,
  finishLearner,
  removeLost,
  addMissing,
  replaceTerminating,
  removeSurplus,
  discardOld,
];

function remove(input: MembershipInput, member: Member, because: string, cause: Act['cause']): Decision {
  const { registration, claim } = member;
  if (!registration) return settled;
  const { observation, guard } = input;
  // Without a mark, it would be unknown later that the claim may hold data of a removed member.
  const decision =
    claim && claim.memberId === undefined && !claim.isLost
      ? act({ kind: 'markVolume', member: member.name, id: noMember })
      : act({ kind: 'remove', member: member.name, id: registration.id, because });
  return guarded({ observation, guard }, member, { kind: 'remove', cause }, decision);
}

function holdsOldData({ claim }: Member): boolean {
  return claim !== undefined && (claim.isLost || claim.memberId !== undefined);
}

/** `initial-cluster` in the configuration of a joining member: the registered members, and itself. */
export function initialCluster({ members }: EtcdObservation, joining: string): string {
  return members
    .filter(({ name, registration }) => registration || name === joining)
    .map(({ name, peerUrl }) => `${name}=${peerUrl}`)
    .join(',');
}

/** Whether a member has yet to start for the first time, and so needs the list of the other members. */
export function isAwaited(observation: EtcdObservation, { registration, status, claim }: Member): boolean {
  if (!registration || status) return false;
  return registration.name === '' || claim?.isReserved === true || isForming(observation);
}

/** No volume is known to hold data yet. */
function isForming({ members }: EtcdObservation): boolean {
  return members.every(({ claim }) => claim?.memberId === undefined || claim.isReserved === true);
}

/**
 * Whether etcd was ever formed here, as far as volumes show it. Then no member may start as part of a new, empty
 * cluster. If all volumes are lost, they show nothing, and another record has to.
 */
export function wasFormed(members: readonly Pick<Member, 'claim'>[]): boolean {
  return members.some(({ claim }) => claim?.memberId !== undefined);
}
