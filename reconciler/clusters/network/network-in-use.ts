import type { ClusterNetwork } from '../../../constructs/cluster/cluster.ts';
import { addressAt } from '../../../constructs/cluster/cidr.ts';

/** What shows which networks and which domain a control plane has, and what its Cluster asks for. */
export interface NetworkEvidence {
  /** What the Cluster says now. */
  readonly asked: ClusterNetwork;
  /** What is recorded; undefined before the first record. */
  readonly recorded: ClusterNetwork | undefined;
  /** Whether workers have been able to join. */
  readonly isInitialized: boolean;
  /** What the components that run have been started with, as far as it is known. */
  readonly running: Partial<ClusterNetwork>;
}

/**
 * The networks and the domain by which a control plane is rendered. Until workers can join, those of the Cluster: a mistake can
 * be corrected. From then on those of the record. Nodes, Services, certificates and running pods have them, and Kubernetes
 * changes none of these afterwards. A control plane that was initialized before there were records keeps what runs.
 */
export function networkInUse({ asked, recorded, isInitialized, running }: NetworkEvidence): ClusterNetwork {
  if (recorded) return recorded;
  return isInitialized ? { ...asked, ...running } : asked;
}

const fields = ['pods', 'services', 'serviceDomain'] as const;

/** Fields of `spec.clusterNetwork` of the Cluster that differ from what is in use, each with both values. */
export function networkDifferences(asked: ClusterNetwork, used: ClusterNetwork): string[] {
  return fields.flatMap((field) => {
    const [wanted, present] = [textOf(asked[field]), textOf(used[field])];
    return canonical(asked[field]) === canonical(used[field]) ? [] : [`${field} is ${wanted} instead of ${present}`];
  });
}

function textOf(value: string | readonly string[]): string {
  return [value].flat().join(', ');
}

/** The same network has the same text, also with bits of a host in it. */
function canonical(value: string | readonly string[]): string {
  return typeof value === 'string' ? value : value.map(canonicalNetwork).join();
}

function canonicalNetwork(cidr: string): string {
  try {
    return `${addressAt(cidr, 0)}/${Number(cidr.split('/')[1])}`;
  } catch {
    return cidr;
  }
}
