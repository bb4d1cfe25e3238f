import type { EtcdStatus } from '../../constructs/api/etcd-status.ts';
import type { ConditionUpdate } from '../engine/condition-update.ts';
import {
  damageOf,
  type EtcdObservation,
  hasQuorum,
  isCorrupt,
  isDataLost,
  isHealthy,
  leaderOf,
  type Member,
  quorumOf,
  votersOf,
} from './members.ts';
import type { EtcdReport } from './report.ts';

/**
 * The health of an etcd cluster that was formed before, with what a person needs to know to decide.
 * @param record etcd in the status: its members when they were last confirmed, and the newest backup
 */
export function etcdHealth({ observation }: EtcdReport, record: EtcdRecord | undefined): ConditionUpdate {
  if (!hasQuorum(observation)) return withoutQuorum(observation, record);
  const full = observation.alarms.filter(({ alarm }) => alarm === 'Nospace');
  if (full.length > 0)
    return unhealthy('SpaceExhausted', 'etcd is full and accepts no writes: see the condition EtcdClusterReady');
  const registered = observation.members.filter(({ registration }) => registration);
  const unhealthyMembers = registered.flatMap((member) => {
    const problem = problemOf(observation, member);
    return problem === undefined ? [] : [`${member.name} ${problem}`];
  });
  const unknownMembers = observation.unknownMembers.map(
    ({ name, id }) => `${name || id} was not created by the operator: remove it with etcdctl`,
  );
  const problems = [...unhealthyMembers, ...unknownMembers];
  if (problems.length === 0) return { status: 'True', reason: 'Healthy', message: '' };
  const isDamaged = registered.some(
    (member) => isCorrupt(observation, member) || damageOf(member) !== undefined || isDataLost(member),
  );
  return unhealthy(isDamaged ? 'MemberDamaged' : 'NotHealthy', problems.join('; '));
}

type EtcdRecord = Pick<Partial<EtcdStatus>, 'clusterID' | 'members' | 'backup'>;

function withoutQuorum(observation: EtcdObservation, record: EtcdRecord | undefined): ConditionUpdate {
  const voters = votersIn(observation, record);
  const lost = voters.filter(hasNoData);
  const members = voters.length + observation.unknownMembers.filter(({ isLearner }) => !isLearner).length;
  if (members === 0) return unhealthy('NotHealthy', 'no etcd member answers');
  const kept = members - lost.length;
  const choices = choicesFor(voters, observation, record?.backup?.lastBackup);
  if (lost.length > 0 && kept === 0) {
    const whose = members === 1 ? 'the only member of etcd' : `all ${members} members of etcd`;
    return unhealthy(
      'DataLost',
      `the data of ${whose} is ${gone(lost)}, and the operator does not start an empty etcd. ${choices}`,
    );
  }
  if (kept < quorumOf(members)) {
    return unhealthy(
      'QuorumLost',
      `the data of ${listOf(lost)} is ${gone(lost)}, and ${kept} of ${members} members is no quorum. ${choices}`,
    );
  }
  const away = voters.filter((member) => !isHealthy(observation, member));
  const names = away.map(({ name, problem }) => `${name}${problem ? ` (${problem})` : ''}`).join(', ');
  return unhealthy(
    'NotHealthy',
    leaderOf(observation) ? `etcd has no quorum without ${names}` : `etcd has no leader; unhealthy members: ${names}`,
  );
}

/**
 * Members with a vote. If no member can confirm them, those of the record; without recorded members, those with a
 * marked volume. An etcd that was formed and has neither came from elsewhere without its data: then all.
 */
function votersIn(observation: EtcdObservation, record: EtcdRecord | undefined): readonly Member[] {
  if (observation.membership !== 'unknown') return votersOf(observation);
  const recorded = record?.members?.filter(({ role }) => role !== 'Learner' && role !== 'Missing');
  if (!recorded) {
    const marked = observation.members.filter(({ claim }) => claim?.memberId !== undefined);
    return marked.length > 0 || record?.clusterID === undefined ? marked : observation.members;
  }
  return observation.members.filter((member) => recorded.some(({ name }) => name === member.name));
}

/** Also applies if it is not known whether the member is registered. Then only its volume shows it. */
function hasNoData(member: Member): boolean {
  if (member.status) return false;
  if (member.registration) return isDataLost(member);
  if (damageOf(member)?.kind === 'unreadable') return true;
  return member.claim === undefined || member.claim.isLost || member.claim.memberId === undefined;
}

function gone(lost: readonly Member[]): string {
  const damaged = lost.flatMap((member) => {
    const damage = damageOf(member);
    return damage?.kind === 'unreadable' ? [`the data of ${member.name} ${damage.what}`] : [];
  });
  return damaged.length === 0 ? 'gone' : `gone or damaged (${damaged.join('; ')})`;
}

function choicesFor(voters: readonly Member[], { members }: EtcdObservation, lastBackup: string | undefined): string {
  const [newest] = members.toSorted((one, other) => (other.status?.revision ?? 0) - (one.status?.revision ?? 0));
  const revision = newest?.status && `revision ${newest.status.revision} of ${newest.name}`;
  const backup = lastBackup && `backup ${lastBackup}`;
  const silent = revision === undefined ? voters.filter((member) => !hasNoData(member)) : [];
  if (silent.length > 0) {
    const instead = backup ? `, or set etcd.recovery.acceptDataLossTo to ${backup}` : '';
    return `${listOf(silent)} may still have data, but no member answers: wait until its revision is named here${instead}`;
  }
  const there = [revision, backup].filter((choice) => choice !== undefined);
  return there.length === 0
    ? 'No member is left, and no backup is known: set etcd.restore to one, or delete this object and create it without its annotations to begin with an empty etcd'
    : `The newest data is ${there.join(', and ')}: set etcd.recovery.acceptDataLossTo to the one to recover from`;
}

function problemOf(observation: EtcdObservation, member: Member): string | undefined {
  if (isCorrupt(observation, member)) return 'has corrupt data';
  const damage = damageOf(member);
  if (damage) return `does not start: its data ${damage.what}`;
  if (isDataLost(member)) return 'has lost its data';
  if (member.registration?.isLearner) return 'is joining';
  if (isHealthy(observation, member)) return undefined;
  return member.status ? 'is behind' : `does not answer${member.problem ? `: ${member.problem}` : ''}`;
}

function listOf(members: readonly Member[]): string {
  return members.map(({ name }) => name).join(' and ');
}

function unhealthy(reason: ConditionUpdate['reason'], message: string): ConditionUpdate {
  return { status: 'False', reason, message };
}
