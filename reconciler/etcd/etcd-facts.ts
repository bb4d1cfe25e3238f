import { parse } from 'yaml';
import { z } from 'zod';
import { ConfigMap } from '../../constructs/api/resources.ts';
import type { HostedCluster } from '../../constructs/cluster/cluster.ts';
import { etcdPeer } from '../../constructs/control-plane/etcd/config.ts';
import type { EtcdFacts } from '../../constructs/cluster/facts.ts';
import { etcdMember, namesOf } from '../../constructs/cluster/names.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Reader } from '../management/view.ts';
import type { EtcdObservation } from './members.ts';
import { initialCluster, isAwaited, noMember, podsFor, wasFormed } from './membership.ts';
import type { KnownMember } from './observe.ts';

/** How the members are to be started. */
export type MemberFacts = Pick<EtcdFacts, 'isFormed' | 'pods' | 'initialClusters'>;

/** What a configuration file that was written before says of the start of its member. */
export interface WrittenStart {
  readonly state: string;
  readonly initialCluster: string;
}

export interface MemberFactsInput {
  readonly cluster: Pick<HostedCluster, 'name' | 'namespace'>;
  readonly replicas: number;
  /** The status has the id of an etcd cluster. */
  readonly isRecorded: boolean;
  readonly members: readonly KnownMember[];
  readonly observation: EtcdObservation | undefined;
  /** Of the configuration files that there are, by ordinal. */
  readonly written: readonly WrittenStart[];
}

/**
 * How etcd's members are to be started, by whatever is known. Only a quorum can say who they are: without one everything
 * stays as it was written last, and when even that is gone, as the volumes tell.
 */
export function memberFacts(input: MemberFactsInput): MemberFacts {
  const { cluster, replicas, isRecorded, members, observation, written } = input;
  const confirmed = observation?.membership === 'Confirmed' ? observation : undefined;
  const isFormed =
    isRecorded || confirmed !== undefined || wasFormed(members) || written.some(({ state }) => state === 'existing');
  // Members that were told of different founders would never find together.
  if (!isFormed) return { isFormed, pods: written.length || replicas, initialClusters: {} };
  if (confirmed) {
    const awaited = confirmed.members.filter((member) => isAwaited(confirmed, member));
    const starts = awaited.map(({ ordinal, name }) => [ordinal, initialCluster(confirmed, name)]);
    return { isFormed, pods: podsFor(confirmed), initialClusters: Object.fromEntries(starts) };
  }
  const marked = members
    .filter(({ claim }) => claim?.memberId !== undefined && claim.memberId !== noMember)
    .map(({ ordinal }) => ordinal + 1);
  const starts = written.flatMap((start, ordinal) =>
    start.initialCluster === etcdPeer(cluster, ordinal) ? [] : [[ordinal, start.initialCluster]],
  );
  return {
    isFormed,
    pods: Math.max(written.length, ...marked) || replicas,
    initialClusters: Object.fromEntries(starts),
  };
}

interface MembersObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const Start = z.object({ 'initial-cluster': z.string(), 'initial-cluster-state': z.string() });

/** What is written in the members' configuration files, by ordinal up to the first that is missing. */
export function writtenStarts(cluster: string, reader: Reader): WrittenStart[] {
  const { data = {} } = reader.get<MembersObject>(ConfigMap, namesOf(cluster).etcdMembers) ?? {};
  const starts: WrittenStart[] = [];
  for (let file; (file = data[`${etcdMember(cluster, starts.length)}.yaml`]) !== undefined;) {
    const start = Start.safeParse(parse(file));
    if (!start.success) break;
    starts.push({ state: start.data['initial-cluster-state'], initialCluster: start.data['initial-cluster'] });
  }
  return starts;
}
