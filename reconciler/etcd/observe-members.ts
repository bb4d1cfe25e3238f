import { definedOnly } from '../../constructs/cluster/defined-only.ts';
import { messageOf } from '../kube/error-message.ts';
import type { MemberClient } from './client.ts';
import {
  damageOf,
  type EtcdObservation,
  type Member,
  type MemberAlarm,
  type MissingConnection,
  type Registration,
  votersOf,
} from './members.ts';

/** What is known of a member without a request to etcd. */
export type KnownMember = Pick<Member, 'ordinal' | 'name' | 'peerUrl' | 'pod' | 'claim'>;

/** The client of a member by name; undefined if it cannot be reached, such as without a pod. */
export type Clients = (name: string) => LoopMemberClient | undefined;

/** The calls that the etcd loop makes to one member. */
export type LoopMemberClient = Omit<MemberClient, 'close' | 'clusterId' | 'keyCounts' | 'keys' | 'snapshot' | 'source'>;

/** What members cannot answer. */
interface ObservationContext {
  readonly inProgress?: EtcdObservation['inProgress'] | undefined;
  readonly isNew?: boolean;
  /** The observation before, if any. */
  readonly previous?: EtcdObservation | undefined;
}

interface MemberAnswer extends Pick<Member, 'status'> {
  readonly alarms: readonly MemberAlarm[];
  readonly client?: LoopMemberClient;
  readonly problem?: string;
}

/**
 * Requests the state of all members in parallel. It never throws, and writes nothing. A member that does not answer
 * takes the deadline of five seconds.
 */
export async function observeEtcd(
  known: readonly KnownMember[],
  clients: Clients,
  { previous, ...context }: ObservationContext = {},
): Promise<EtcdObservation> {
  const first = await Promise.all(known.map(({ name }) => ask(clients(name))));
  const isFull = alarmsOf(first).some(({ alarm }) => alarm === 'Nospace');
  const answers = isFull ? await Promise.all(first.map(recounted)) : first;
  const [{ membership, registrations }, clusterVersion] = await Promise.all([
    membersOf(answers),
    arrivedVersion(
      answers.filter((_, index) => known[index]?.pod),
      previous,
    ) ??
      newestFirst(answers)[0]
        ?.clusterVersion()
        .catch(() => undefined),
  ]);
  const members = known.map((member, index): Member => {
    const { status, problem } = answers[index] ?? unanswered('it was not asked');
    const registration = registrations.find(({ peerUrls }) => peerUrls.includes(member.peerUrl));
    return { ...member, registration, status, ...(problem ? { problem } : {}) };
  });
  const isOneRefused = members.some((member) => damageOf(member)?.kind === 'different');
  const doMembersAgree = isOneRefused ? await doAgree(answers) : undefined;
  const urls = new Set(known.map(({ peerUrl }) => peerUrl));
  return {
    members,
    unknownMembers: registrations.filter(({ peerUrls }) => !peerUrls.some((url) => urls.has(url))),
    membership,
    alarms: alarmsOf(answers),
    isCompacted: isFull && (await isCompacted(answers)),
    ...(doMembersAgree === undefined ? {} : { doMembersAgree }),
    ...(clusterVersion ? { clusterVersion } : {}),
    ...definedOnly(context),
  };
}

/** The cluster version that was seen before, if all members with a pod still run that minor: it follows the members. */
function arrivedVersion(answers: readonly MemberAnswer[], previous: EtcdObservation | undefined): string | undefined {
  const known = previous?.clusterVersion;
  const minor = known?.split('.').slice(0, 2).join('.');
  return answers.every(({ status }) => status?.version.startsWith(`${minor}.`)) ? known : undefined;
}

/**
 * The connections between voters that one of them lacks; a member that the others dial looks healthy without any of its own. Of a
 * member that does not say whom it reaches nothing is missing: its image may be a user's own.
 */
export async function missingConnections(
  observation: EtcdObservation,
  clients: (name: string) => Pick<LoopMemberClient, 'reachedPeers'> | undefined,
): Promise<readonly MissingConnection[]> {
  const voters = votersOf(observation).filter(({ status }) => status);
  const missing = voters.map(async ({ name }) => {
    const reached = await clients(name)
      ?.reachedPeers()
      .catch(() => undefined);
    if (!reached) return [];
    const others = voters.filter((other) => other.name !== name && !reached.has(other.registration?.id ?? ''));
    return others.map((other) => ({ from: name, to: other.name }));
  });
  return (await Promise.all(missing)).flat();
}

async function ask(client: LoopMemberClient | undefined): Promise<MemberAnswer> {
  if (!client) return unanswered('it has no pod');
  try {
    const [answer] = await Promise.all([client.status(), client.read()]);
    return { ...answer, client };
  } catch (error) {
    return unanswered(messageOf(error));
  }
}

/** Updates the free space. A full etcd accepts no writes, and so has not counted it since. */
async function recounted(answer: MemberAnswer): Promise<MemberAnswer> {
  const { client } = answer;
  if (!client) return answer;
  try {
    await client.recount();
    return { ...(await client.status()), client };
  } catch {
    // The first answer is valid, except for the space.
    return answer;
  }
}

function unanswered(problem: string): MemberAnswer {
  return { status: undefined, alarms: [], problem };
}

/** Newest first, because a member that is behind has an outdated list. */
async function membersOf(answers: readonly MemberAnswer[]): Promise<{
  readonly membership: EtcdObservation['membership'];
  readonly registrations: readonly Registration[];
}> {
  const clients = newestFirst(answers);
  for (const view of ['quorum', 'own'] as const) {
    const lists = await Promise.allSettled(clients.map((client) => client.members(view)));
    const list = lists.find((result) => result.status === 'fulfilled');
    if (list) return { membership: view === 'quorum' ? 'confirmed' : 'unconfirmed', registrations: list.value };
  }
  return { membership: 'unknown', registrations: [] };
}

/** Every member knows all alarms. The order does not depend on the member that reports them. */
function alarmsOf(answers: readonly MemberAnswer[]): readonly MemberAlarm[] {
  const all = answers.flatMap(({ alarms }) => alarms);
  return [...new Map(all.map((alarm) => [`${alarm.alarm} ${alarm.memberId}`, alarm])).values()].sort((one, other) =>
    one.memberId.localeCompare(other.memberId),
  );
}

/** Undefined if not all members can be compared now, such as during a compaction. */
async function doAgree(answers: readonly MemberAnswer[]): Promise<boolean | undefined> {
  const clients = newestFirst(answers);
  const revision = Math.min(...answers.flatMap(({ status }) => (status ? [status.revision] : [])));
  try {
    const hashes = await Promise.all(clients.map((client) => client.hash(revision)));
    if (new Set(hashes.map(({ since }) => since)).size > 1) return undefined;
    return new Set(hashes.map(({ hash }) => hash)).size === 1;
  } catch {
    return undefined;
  }
}

async function isCompacted(answers: readonly MemberAnswer[]): Promise<boolean> {
  const [newest] = newestFirst(answers);
  const revision = Math.max(...answers.map(({ status }) => status?.revision ?? 0));
  return newest ? newest.isCompacted(revision).catch(() => false) : false;
}

function newestFirst(answers: readonly MemberAnswer[]): readonly LoopMemberClient[] {
  return answers
    .toSorted((one, other) => (other.status?.raftAppliedIndex ?? 0) - (one.status?.raftAppliedIndex ?? 0))
    .flatMap(({ client }) => (client ? [client] : []));
}
