import { firstMatch } from '../engine/first-match.ts';
import {
  type EtcdObservation,
  endsWithItsPod,
  hasQuorum,
  healthyVoters,
  isHealthy,
  leaderOf,
  learnersOf,
  type Member,
  quorumOf,
  voterCount,
} from './members.ts';

/** A disruption of a member by the operator, temporary or permanent. */
export interface Act {
  readonly kind: 'restart' | 'defragment' | 'remove';
  /**
   * `requested` by a change of the spec, `unavoidable` because etcd does not work without it, or `upkeep` that can wait.
   */
  readonly cause: 'requested' | 'unavoidable' | 'upkeep';
}

type GuardResult =
  | { readonly isAllowed: true }
  | {
      readonly isAllowed: false;
      readonly reason:
        | 'inProgress'
        | 'membershipUnconfirmed'
        | 'onlyMember'
        | 'othersApart'
        | 'leads'
        | 'endsWithItsPod'
        | 'noAnswer'
        | 'othersUnhealthy'
        | 'noQuorum';
      /** A sentence for the user. */
      readonly message: string;
    };

export type Guard = (observation: EtcdObservation, member: Member, act: Act) => GuardResult;

type Refusal = GuardResult & { readonly isAllowed: false };
type Check = (observation: EtcdObservation, member: Member, act: Act) => Refusal | undefined;

/**
 * Whether an act may disrupt this member now. The operator checks it for every disruptive act, right after the
 * observation.
 *
 * The operator disrupts a member only while every other voter is healthy. With three members the other two just form a
 * quorum, and with five one of them may fail meanwhile. A quorum alone would suffice, but then the first failure during
 * an act would stop the cluster, and acts can wait while failures cannot. This also allows only one act at a time: a
 * disrupted member is unhealthy until it is back, even if no process remembers the act. Two repairs are exceptions. The
 * removal of a lost member only requires that the others have a quorum, because its vote helps none of them. A process
 * that does not run may be started from another template at any time, unless its data would go with its pod.
 */
export const mayDisrupt: Guard = (observation, member, act) => {
  return firstMatch(checksFor(observation, member, act), observation, member, act) ?? { isAllowed: true };
};

/** These lists are the policy. */
function checksFor(observation: EtcdObservation, member: Member, { kind }: Act): readonly Check[] {
  if (kind === 'restart' && !mayServe(observation, member)) return [nothingElseInProgress, keepsItsData];
  return [
    nothingElseInProgress,
    keepsItsData,
    membershipIsConfirmed,
    isNotTheOnlyOne,
    othersReachEachOther,
    doesNotLead,
    answers,
    othersCarryOn,
  ];
}

/**
 * Whether clients may depend on the member. A missing answer alone proves nothing: when the network of the operator
 * fails, no member answers, and clients still use all of them. No client depends on the member if the kubelet reports that
 * the process does not run, if a quorum confirms that it has no vote, or if etcd was never formed. The last case lets the
 * operator correct a wrong template before etcd is formed. The same holds for an only member that the kubelet reports as
 * not ready: no client reaches it then.
 */
function mayServe({ members, membership, isNew = false }: EtcdObservation, { registration, pod, status }: Member) {
  if (!status && !pod?.isRunning) return false;
  if (membership === 'confirmed') return registration?.isLearner === false;
  if (membership === 'unconfirmed' || status) return true;
  return !isNew && (members.length > 1 || pod?.isReady !== false);
}

const nothingElseInProgress: Check = (observation, member) => {
  const { inProgress, members } = observation;
  if (inProgress) return refuse('inProgress', `${inProgress.act} of ${inProgress.member} is in progress`);
  const terminating = members.find(({ pod }) => pod?.isTerminating);
  if (terminating) return refuse('inProgress', `the pod of ${terminating.name} is being replaced`);
  const learner = learnersOf(observation).find(({ name }) => name !== member.name);
  return learner && refuse('inProgress', `${learner.name} is joining`);
};

/** A restart, whatever its cause, ends the pod. Others that would end in the same way do not carry on. */
const keepsItsData: Check = (observation, member, { kind }) => {
  if (kind !== 'restart' || !endsWithItsPod(observation, member)) return undefined;
  const others = healthyVoters(observation).filter((other) => !endsWithItsPod(observation, other));
  if (others.length >= quorumOf(voterCount(observation))) return undefined;
  return refuse(
    'endsWithItsPod',
    `the volume claim of ${member.name} is being deleted, and its data would end with its pod`,
  );
};

const membershipIsConfirmed: Check = (observation) =>
  observation.membership === 'confirmed' && leaderOf(observation)
    ? undefined
    : refuse('membershipUnconfirmed', 'no quorum of etcd members confirms the members and the leader');

/** A disruption of the only member is an outage. It is not allowed for upkeep, and the only member is never removed. */
const isNotTheOnlyOne: Check = (observation, member, { kind, cause }) => {
  if (!isVoter(member) || voterCount(observation) > 1) return undefined;
  if (kind !== 'remove' && cause !== 'upkeep') return undefined;
  return refuse('onlyMember', `${member.name} is the only member, and etcd would not answer meanwhile`);
};

/**
 * A member that the others dial serves, although it reaches none of them. What cuts it off, such as a proxy in the template, cuts off
 * the next one too, and two members that do not reach each other form no quorum without a third.
 */
const othersReachEachOther: Check = ({ missingConnections = [] }, { name }, { kind }) => {
  const missing = missingConnections.find(({ from, to }) => from !== name && to !== name);
  if (kind !== 'restart' || !missing) return undefined;
  return refuse(
    'othersApart',
    `${missing.from} does not reach ${missing.to}, and ${name} keeps its pod until it does: look for a proxy in etcd.env or deployment.defaults.env, a NetworkPolicy, or a certificate that ${missing.to} refuses`,
  );
};

const doesNotLead: Check = (observation, member) =>
  voterCount(observation) > 1 && leaderOf(observation) === member
    ? refuse('leads', `${member.name} is the leader: another member must take over first`)
    : undefined;

const answers: Check = (_, member, { kind }) =>
  kind === 'defragment' && !member.status ? refuse('noAnswer', `${member.name} does not answer`) : undefined;

const othersCarryOn: Check = (observation, member, { kind }) => {
  const voters = voterCount(observation);
  const healthy = healthyVoters(observation).filter(({ name }) => name !== member.name).length;
  const others = isVoter(member) ? voters - 1 : voters;
  if (kind === 'remove' && !hasQuorum(observation)) {
    return refuse('noQuorum', `only ${healthyVoters(observation).length} of ${voters} members are healthy`);
  }
  // A removed member takes its vote with it. A member that comes back still counts meanwhile.
  const quorum = others === 0 ? 0 : quorumOf(kind === 'remove' ? others : voters);
  if (healthy < quorum) {
    return refuse(
      'noQuorum',
      `without ${member.name} only ${healthy} of ${voters} members are healthy, but a quorum needs ${quorum}`,
    );
  }
  const isRepair = kind === 'remove' && !isHealthy(observation, member);
  if (healthy === others || !isVoter(member) || isRepair) return undefined;
  return refuse(
    'othersUnhealthy',
    `${others - healthy} of the ${others} members other than ${member.name} are unhealthy`,
  );
};

function isVoter({ registration }: Member): boolean {
  return registration?.isLearner === false;
}

function refuse(reason: Refusal['reason'], message: string): Refusal {
  return { isAllowed: false, reason, message };
}
