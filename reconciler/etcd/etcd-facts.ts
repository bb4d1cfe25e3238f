import type { ConfigMapObject } from '../../imports/kubernetes.ts';
import { z } from 'zod';
import { ConfigMap } from '../../constructs/api/resources.ts';
import type { HostedCluster } from '../../constructs/cluster/cluster.ts';
import { etcdPeer } from '../../constructs/control-plane/etcd/config.ts';
import type { EtcdFacts } from '../../constructs/cluster/facts.ts';
import { etcdMember, namesOf } from '../../constructs/cluster/names.ts';
import { parseYaml } from '../kube/yaml.ts';
import type { Reader } from '../clusters/management/view.ts';
import type { EtcdObservation } from './members.ts';
import { initialCluster, isAwaited, noMember, podsFor, wasFormed } from './membership.ts';
import type { KnownMember } from './observe-members.ts';

/** How to start the members. */
export type MemberFacts = Pick<EtcdFacts, 'isFormed' | 'pods' | 'initialClusters' | 'founders'>;

/** The start of a member, as an existing configuration file describes it. */
interface WrittenStart {
  readonly state: string;
  readonly initialCluster: string;
}

export interface MemberFactsInput {
  readonly cluster: Pick<HostedCluster, 'name' | 'namespace'>;
  readonly replicas: number;
  /** The status or an annotation contains the ID of an etcd cluster. */
  readonly isRecorded: boolean;
  readonly members: readonly KnownMember[];
  readonly observation: EtcdObservation | undefined;
  /** From the existing configuration files, by ordinal. */
  readonly written: readonly WrittenStart[];
}

/**
 * How to start etcd's members, from what is known. Only a quorum can confirm the members. Without one, everything stays
 * as it was written last. If that is missing too, the volumes determine it.
 */
export function memberFacts(input: MemberFactsInput): MemberFacts {
  const { cluster, replicas, isRecorded, members, observation, written } = input;
  const confirmed = observation?.membership === 'confirmed' ? observation : undefined;
  const isFormed =
    isRecorded || confirmed !== undefined || wasFormed(members) || written.some(({ state }) => state === 'existing');
  // Members with different founders would never form one cluster.
  if (!isFormed) return { isFormed, pods: written.length || replicas, initialClusters: {}, founders: [] };
  if (confirmed) {
    const awaited = confirmed.members.filter((member) => isAwaited(confirmed, member));
    const starts = awaited.map(({ ordinal, name }) => [ordinal, initialCluster(confirmed, name)]);
    const founders = awaited.filter(
      ({ ordinal, registration }) => registration?.name !== '' && written[ordinal]?.state === 'new',
    );
    return {
      isFormed,
      pods: podsFor(confirmed),
      initialClusters: Object.fromEntries(starts),
      founders: founders.map(({ ordinal }) => ordinal),
    };
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
    // A quorum has been formed beside these: alone, they form no other.
    founders: written.some(({ state }) => state === 'existing')
      ? written.flatMap(({ state }, ordinal) => (state === 'new' ? [ordinal] : []))
      : [],
  };
}

const Start = z.object({ 'initial-cluster': z.string(), 'initial-cluster-state': z.string() });

/** The starts in the members' configuration files, by ordinal up to the first missing file. */
export function writtenStarts(cluster: string, reader: Reader): WrittenStart[] {
  const { data = {} } = reader.get<ConfigMapObject>(ConfigMap, namesOf(cluster).etcdMembers) ?? {};
  const starts: WrittenStart[] = [];
  for (let file; (file = data[`${etcdMember(cluster, starts.length)}.yaml`]) !== undefined;) {
    const start = Start.safeParse(parseYaml(file));
    if (!start.success) break;
    starts.push({ state: start.data['initial-cluster-state'], initialCluster: start.data['initial-cluster'] });
  }
  return starts;
}
