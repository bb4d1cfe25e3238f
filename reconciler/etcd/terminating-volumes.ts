import { PersistentVolumeClaim } from '../../constructs/api/resources.ts';
import { selectorLabels } from '../../constructs/cluster/labels.ts';
import type { Reader } from '../clusters/management/view.ts';
import { quorumOf } from './members.ts';
import { noMember } from './membership.ts';
import { markOf } from './volume-mark.ts';

/** Volume claims with data of members whose deletion has been requested. Kubernetes completes it when their pods end. */
interface TerminatingVolumes {
  readonly claims: readonly string[];
  /** Whether the other claims hold the data of a quorum, so that a stop of all members loses nothing. */
  readonly isQuorumKept: boolean;
}

interface Context {
  readonly cluster: { readonly name: string };
  readonly reader: Pick<Reader, 'list'>;
}

export function terminatingVolumes({ cluster, reader }: Context): TerminatingVolumes {
  const withData = reader.list(PersistentVolumeClaim, selectorLabels(cluster.name, 'etcd')).filter((claim) => {
    const { memberId, isReserved } = markOf(claim);
    return memberId !== undefined && memberId !== noMember && !isReserved;
  });
  const going = withData.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  return {
    claims: going.map(({ metadata }) => metadata.name),
    isQuorumKept: going.length === 0 || withData.length - going.length >= quorumOf(withData.length),
  };
}

/** What is being deleted, what happens then, and what saves the data. @param replicas of the spec */
export function describeTerminating(claims: readonly string[], replicas: number): string {
  const what = `volume claim ${claims.join(', ')} was deleted, which nothing takes back: Kubernetes removes the volume as soon as its pod ends`;
  if (replicas > 1) return `${what}; the operator replaces one member after the other while the others are healthy`;
  return `${what}, and the operator does not replace the pod; take a backup, and set etcd.replicas to 3 until its data are on other volumes`;
}
