import {
  type EtcdObservation,
  hasQuorum,
  healthyVoters,
  isHealthy,
  leaderOf,
  learnersOf,
  type Member,
  quorumOf,
  voterCount,
} from './members.ts';

/** Something of ours that takes a member away for a while, or for good. */
export interface Act {
  readonly kind: 'Restart' | 'Defragment' | 'Remove';
  /** `Asked` by a change of the spec, `Unavoidable` because it does not work without, or `Upkeep` that can wait. */
  readonly cause: 'Asked' | 'Unavoidable' | 'Upkeep';
}

export type GuardResult =
  | { readonly isAllowed: true }
  | {
      readonly isAllowed: false;
      readonly reason:
        | 'UnderWay'
        | 'MembershipUnconfirmed'
        | 'OnlyMember'
        | 'Leads'
        | 'NoAnswer'
        | 'OthersIll'
        | 'NoQuorum';
      /** A sentence for a person. */
      readonly message: string;
    };

export type Guard = (observation: EtcdObservation, member: Member, act: Act) => GuardResult;

type Refusal = GuardResult & { readonly isAllowed: false };
type Check = (observation: EtcdObservation, member: Member, act: Act) => Refusal | undefined;

/**
 * Whether an act may take this member away now. Every disruptive act of ours asks it, right after reading the world.
 *
 * A member is taken away only while every other voter is well: with three members the two others just make a quorum,
 * and with five one of them may fail meanwhile. A quorum alone would do, but then the first failure during an act of
 * ours would stop the cluster, and acts can wait while failures cannot. It also makes it one act at a time: what an act
 * has taken away is not well until it is back, whoever remembers the act. Two exceptions repair: removing a member that
 * is lost asks only that the others have a quorum, as its vote helps nobody, and a process that does not run may be
 * started from another template at any time.
 */
export const mayDisrupt: Guard = (observation, member, act) => {
  for (const check of checksFor(member, act)) {
    const refusal = check(observation, member, act);
    if (refusal) return refusal;
  }
  return { isAllowed: true };
};

/** Reading these lists is reading the policy. */
function checksFor(member: Member, { kind }: Act): readonly Check[] {
  if (kind === 'Restart' && !isServing(member)) return [nothingElseInProgress];
  return [nothingElseInProgress, membershipIsConfirmed, isNotTheOnlyOne, doesNotLead, answers, othersCarryOn];
}

/**
 * Whether anybody may depend on the member. Only the kubelet's word that its process does not run, or that it has no
 * vote, is good enough: that we get no answer may be our network.
 */
function isServing({ registration, pod, status }: Member): boolean {
  return registration?.isLearner === false && (status !== undefined || pod?.isRunning === true);
}

const nothingElseInProgress: Check = (observation, member) => {
  const { inProgress, members } = observation;
  if (inProgress) return refuse('UnderWay', `${inProgress.act} of ${inProgress.member} is under way`);
  const terminating = members.find(({ pod }) => pod?.isTerminating);
  if (terminating) return refuse('UnderWay', `the pod of ${terminating.name} is being replaced`);
  const learner = learnersOf(observation).find(({ name }) => name !== member.name);
  return learner && refuse('UnderWay', `${learner.name} is joining`);
};

const membershipIsConfirmed: Check = (observation) =>
  observation.membership === 'Confirmed' && leaderOf(observation)
    ? undefined
    : refuse('MembershipUnconfirmed', 'no quorum of etcd members says who its members are and who leads');

/** Taking the only member away is an outage: never for upkeep, and it is never removed. */
const isNotTheOnlyOne: Check = (observation, member, { kind, cause }) => {
  if (!isVoter(member) || voterCount(observation) > 1) return undefined;
  if (kind !== 'Remove' && cause !== 'Upkeep') return undefined;
  return refuse('OnlyMember', `${member.name} is the only member, and nobody would answer meanwhile`);
};

const doesNotLead: Check = (observation, member) =>
  voterCount(observation) > 1 && leaderOf(observation)?.name === member.name
    ? refuse('Leads', `${member.name} leads: another member has to take over first`)
    : undefined;

const answers: Check = (_, member, { kind }) =>
  kind === 'Defragment' && !member.status ? refuse('NoAnswer', `${member.name} does not answer`) : undefined;

const othersCarryOn: Check = (observation, member, { kind }) => {
  const voters = voterCount(observation);
  const healthy = healthyVoters(observation).filter(({ name }) => name !== member.name).length;
  const others = isVoter(member) ? voters - 1 : voters;
  if (kind === 'Remove' && !hasQuorum(observation)) {
    return refuse('NoQuorum', `only ${healthyVoters(observation).length} of ${voters} members are well`);
  }
  // A member that is removed takes its vote along; one that comes back still counts meanwhile.
  const quorum = others === 0 ? 0 : quorumOf(kind === 'Remove' ? others : voters);
  if (healthy < quorum) {
    return refuse(
      'NoQuorum',
      `without ${member.name} only ${healthy} of ${voters} members are well, ${quorum} must be`,
    );
  }
  const isRepair = kind === 'Remove' && !isHealthy(observation, member);
  if (healthy === others || !isVoter(member) || isRepair) return undefined;
  return refuse('OthersIll', `${others - healthy} of the ${others} other members of ${member.name} are not well`);
};

function isVoter({ registration }: Member): boolean {
  return registration?.isLearner === false;
}

function refuse(reason: Refusal['reason'], message: string): Refusal {
  return { isAllowed: false, reason, message };
}
