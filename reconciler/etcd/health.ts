import type { Verdict } from '../status.ts';
import {
  type EtcdObservation,
  hasQuorum,
  isCorrupt,
  isDataLost,
  isHealthy,
  leaderOf,
  type Member,
  quorumOf,
  voterCount,
  votersOf,
} from './members.ts';
import type { EtcdReport } from './report.ts';

/**
 * Whether an etcd cluster that was formed once is well, and if not what a person has to know to decide.
 * @param lastBackup name of the newest backup, if there is one
 */
export function etcdHealth({ observation }: EtcdReport, lastBackup: string | undefined): Verdict {
  if (!hasQuorum(observation)) return withoutQuorum(observation, lastBackup);
  const full = observation.alarms.filter(({ alarm }) => alarm === 'Nospace');
  if (full.length > 0) return unhealthy('SpaceExhausted', 'etcd is full and takes no writes');
  const ill = observation.members
    .filter(({ registration }) => registration)
    .flatMap((member) => {
      const problem = problemOf(observation, member);
      return problem === undefined ? [] : [`${member.name} ${problem}`];
    });
  const strangers = observation.strangers.map(({ name, id }) => `${name || id} is none of ours`);
  const problems = [...ill, ...strangers];
  return problems.length === 0
    ? { status: 'True', reason: 'Healthy', message: '' }
    : unhealthy('NotHealthy', problems.join('; '));
}

function withoutQuorum(observation: EtcdObservation, lastBackup: string | undefined): Verdict {
  const lost = observation.members.filter((member) => hasNoData(observation, member));
  const members = voterCount(observation) || observation.members.length;
  const kept = members - lost.length;
  const choices = choicesFor(observation, lastBackup);
  if (lost.length > 0 && kept === 0) {
    const whose = members === 1 ? 'the only member of etcd' : `all ${members} members of etcd`;
    return unhealthy('DataLost', `the data of ${whose} is gone, and nothing is started empty. ${choices}`);
  }
  if (kept < quorumOf(members)) {
    return unhealthy(
      'QuorumLost',
      `the data of ${listOf(lost)} is gone, and ${kept} of ${members} is no quorum. ${choices}`,
    );
  }
  const away = observation.members.filter((member) => !isHealthy(observation, member));
  const told = away.map(({ name, problem }) => `${name}${problem ? ` (${problem})` : ''}`).join(', ');
  return unhealthy(
    'NotHealthy',
    leaderOf(observation) ? `etcd has no quorum without ${told}` : `etcd has no leader; not well: ${told}`,
  );
}

/** Also when nobody can say who its members are: then only their volumes tell. */
function hasNoData(observation: EtcdObservation, member: Member): boolean {
  if (member.status) return false;
  if (member.registration) return isDataLost(member);
  if (votersOf(observation).length > 0) return false;
  return member.claim === undefined || member.claim.isLost || member.claim.memberId === undefined;
}

function choicesFor({ members }: EtcdObservation, lastBackup: string | undefined): string {
  const [newest] = members.toSorted((one, other) => (other.status?.revision ?? 0) - (one.status?.revision ?? 0));
  const revision = newest?.status && `revision ${newest.status.revision} of ${newest.name}`;
  const backup = lastBackup && `backup ${lastBackup}`;
  const there = [revision, backup].filter((choice) => choice !== undefined);
  return there.length === 0
    ? 'No member and no backup is left to go on from'
    : `Newest is ${there.join(', and ')}: etcd.recovery.acceptDataLossTo decides what to go on from`;
}

function problemOf(observation: EtcdObservation, member: Member): string | undefined {
  if (isCorrupt(observation, member)) return 'has corrupt data';
  if (isDataLost(member)) return 'has lost its data';
  if (member.registration?.isLearner) return 'is joining';
  if (isHealthy(observation, member)) return undefined;
  return member.status ? 'is behind' : `does not answer${member.problem ? `: ${member.problem}` : ''}`;
}

function listOf(members: readonly Member[]): string {
  return members.map(({ name }) => name).join(' and ');
}

function unhealthy(reason: Verdict['reason'], message: string): Verdict {
  return { status: 'False', reason, message };
}
