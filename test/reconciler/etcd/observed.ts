import type { Damage } from '../../../reconciler/etcd/damage.ts';
import type { EtcdObservation, Member, MemberStatus } from '../../../reconciler/etcd/members.ts';

export const mebibyte = 1024 ** 2;

/** A running member with this ordinal, in an etcd cluster whose member 0 leads; `change` overrides fields. */
export function observedMember(ordinal: number, change: Partial<Member> = {}): Member {
  const name = `etcd-${ordinal}`;
  const peerUrl = `https://${name}:2380`;
  const id = String(ordinal + 1);
  return {
    ordinal,
    name,
    peerUrl,
    registration: { id, name, isLearner: false, peerUrls: [peerUrl] },
    status: observedStatus(ordinal),
    pod: { uid: `pod-${ordinal}`, revision: 'new', isTerminating: false, isRunning: true, restarts: 0 },
    claim: { memberId: id, isLost: false },
    ...change,
  };
}

export function observedStatus(ordinal: number, change: Partial<MemberStatus> = {}): MemberStatus {
  return {
    memberId: String(ordinal + 1),
    clusterId: '4711',
    version: '3.6.16',
    leaderId: '1',
    raftTerm: 2,
    raftIndex: 50_000,
    raftAppliedIndex: 50_000,
    revision: 40_000,
    dbSizeBytes: 200 * mebibyte,
    dbSizeInUseBytes: 190 * mebibyte,
    errors: [],
    ...change,
  };
}

/** A process that does not run. */
export const stopped: Partial<Member> = {
  status: undefined,
  pod: { uid: 'pod', revision: 'old', isTerminating: false, isRunning: false, restarts: 9 },
};

/** A process that cannot start with its data, and logs that. */
export function damaged(kind: Damage['kind']): Partial<Member> {
  return {
    status: undefined,
    pod: {
      uid: 'pod',
      revision: 'new',
      isTerminating: false,
      isRunning: false,
      restarts: 2,
      damage: { kind, what: 'is wrong' },
    },
  };
}

/** A process that runs and does not answer. */
export const silent: Partial<Member> = { status: undefined };

/** An ordinal without a member, with an empty volume. */
export const vacant: Partial<Member> = {
  ...stopped,
  registration: undefined,
  claim: { memberId: undefined, isLost: false },
};

/** `size` members that are healthy but for `changes`, by ordinal. */
export function observed(
  size: number,
  changes: Readonly<Record<number, Partial<Member>>> = {},
  rest: Partial<EtcdObservation> = {},
): EtcdObservation {
  return {
    members: Array.from({ length: size }, (_, ordinal) => observedMember(ordinal, changes[ordinal])),
    unknownMembers: [],
    membership: 'confirmed',
    alarms: [],
    isCompacted: false,
    ...rest,
  };
}

/** The registration of an ordinal as a learner that has started. */
export function learner(ordinal: number, change: Partial<Member> = {}): Partial<Member> {
  const { registration } = observedMember(ordinal);
  return { ...(registration ? { registration: { ...registration, isLearner: true } } : {}), ...change };
}
