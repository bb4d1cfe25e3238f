import type { EtcdStatus } from '../../constructs/api/etcd-status.ts';
import { definedOnly } from '../../constructs/cluster/defined-only.ts';
import { type EtcdObservation, isDataLost, leaderOf, type Member } from './members.ts';
import { hexadecimal } from './volume-mark.ts';

type StatusMember = NonNullable<EtcdStatus['members']>[number];

/** The status of etcd; empty while its membership is not confirmed. */
export function statusOfEtcd(observation: EtcdObservation): Pick<Partial<EtcdStatus>, 'clusterID' | 'members'> {
  if (observation.membership !== 'confirmed') return {};
  const clusterId = leaderOf(observation)?.status?.clusterId;
  const members = observation.members.map((member): StatusMember => {
    const { name, registration, status } = member;
    return {
      name,
      role: roleOf(observation, member),
      ...definedOnly({ id: registration && hexadecimal(registration.id), version: status?.version }),
    };
  });
  return { ...(clusterId ? { clusterID: hexadecimal(clusterId) } : {}), members };
}

function roleOf(observation: EtcdObservation, member: Member): StatusMember['role'] {
  const { registration, status } = member;
  if (!registration) return 'Missing';
  if (registration.isLearner) return 'Learner';
  if (isDataLost(member)) return 'Lost';
  if (!status) return 'Unreachable';
  return leaderOf(observation)?.name === member.name ? 'Leader' : 'Follower';
}
