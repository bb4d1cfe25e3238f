import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import { disruptionBudget } from '../pod/disruption-budget.ts';
import type { HostedCluster } from '../cluster/cluster.ts';
import type { Endpoint, Facts } from '../cluster/facts.ts';
import { namesOf } from '../cluster/names.ts';
import { hasChange } from '../cluster/versions.ts';

/** Namespace of the add-ons, as in kubeadm. */
export const addOnNamespace = 'kube-system';

/** What every add-on is rendered from. */
export interface AddOnProps {
  readonly cluster: HostedCluster;
  /** Endpoint of the API server. */
  readonly endpoint: Endpoint;
  /** Input that its pods read only when they start, by name. A change of any value replaces them. */
  readonly startsWith: Readonly<Record<string, string>>;
}

/** The same for an add-on whose number of pods depends on the number of nodes. */
export interface CountedAddOnProps extends AddOnProps {
  /** Number of nodes of the hosted cluster; undefined when it is unknown. */
  readonly nodes: number | undefined;
}

/** Tolerations of add-ons: nodes whose initialization is not complete, and nodes that are reserved for add-ons. */
export const addOnTolerations: readonly k8s.Toleration[] = [
  { key: 'CriticalAddonsOnly', operator: 'Exists' },
  // A node that has just joined. It is already counted, and the second pod must start there, not on the node of the
  // first pod.
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoSchedule' },
  // Cluster API removes it once its labels are on the node.
  { key: 'node.cluster.x-k8s.io/uninitialized', operator: 'Exists', effect: 'NoSchedule' },
  // A cloud controller manager removes it, and may itself be a pod that needs DNS.
  { key: 'node.cloudprovider.kubernetes.io/uninitialized', operator: 'Exists', effect: 'NoSchedule' },
];

/**
 * Number of pods of an add-on: the wanted number, but at most one per node; one while there is no node, so that it
 * starts on the first node.
 */
export function replicasFor(wanted: number, nodes: number | undefined): number {
  return Math.min(wanted, Math.max(1, nodes ?? 0));
}

export interface AddOnBudgetProps {
  /** Name of the Deployment. */
  readonly name: string;
  readonly selector: Readonly<Record<string, string>>;
  readonly replicas: number;
}

/**
 * Lets drains of several nodes evict the pods of an add-on one after the other. It is there only while pods run on
 * several nodes, by {@link replicasFor}: the last node can always be drained.
 */
export class AddOnBudget extends Construct {
  constructor(scope: Construct, id: string, { name, selector, replicas }: AddOnBudgetProps) {
    super(scope, id);
    if (replicas <= 1) return;
    const metadata = { name, namespace: addOnNamespace };
    new k8s.KubePodDisruptionBudget(this, 'budget', disruptionBudget({ metadata, selector, notReady: 'AlwaysAllow' }));
  }
}

/** Add-ons that read `kube-root-ca.crt` only when they start. */
const readAtStart = {
  // No release has a client-go that reloads it yet.
  coredns: () => true,
  'konnectivity-agent': () => true,
  'kube-proxy': (version: string) => !hasChange(version, 'reloadsKubeconfigCA'),
} as const satisfies Readonly<Record<string, (version: string) => boolean>>;

/**
 * The CA that signs, for an add-on that reads it only when it starts. Its pods are replaced when another CA signs. They
 * then trust that CA, because `kube-root-ca.crt` already contains it.
 */
export function caAtStart(
  addOn: keyof typeof readAtStart,
  { name, spec }: HostedCluster,
  { signers }: Facts,
): Readonly<Record<string, string>> {
  if (!readAtStart[addOn](spec.version)) return {};
  return { 'cluster-ca': signers?.[namesOf(name).secrets.clusterCA]?.slice(0, 12) ?? 'unknown' };
}
