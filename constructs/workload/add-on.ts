import type { k8s } from 'cdk8s-plus-30';
import type { HostedCluster } from '../cluster/cluster.ts';
import type { Facts } from '../cluster/facts.ts';
import { namesOf } from '../cluster/names.ts';
import { hasChange } from '../cluster/versions.ts';

/** Where kubeadm puts its add-ons, and we ours. */
export const addOnNamespace = 'kube-system';

/** What add-ons do not wait for: nodes that nobody has finished yet, and nodes that are for add-ons only. */
export const addOnTolerations: readonly k8s.Toleration[] = [
  { key: 'CriticalAddonsOnly', operator: 'Exists' },
  // A node that has just joined: it is counted already, and the second pod is to start there, not beside the first one.
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoSchedule' },
  // Cluster API takes it away once its labels are on the node.
  { key: 'node.cluster.x-k8s.io/uninitialized', operator: 'Exists', effect: 'NoSchedule' },
  // A cloud controller manager takes it away, and may itself be a pod that looks up names.
  { key: 'node.cloudprovider.kubernetes.io/uninitialized', operator: 'Exists', effect: 'NoSchedule' },
];

/** How many pods an add-on has: as many as are wanted, but one per node; one while there is no node, to be there for it. */
export function replicasFor(wanted: number, nodes: number | undefined): number {
  return Math.min(wanted, Math.max(1, nodes ?? 0));
}

/** Which of the add-ons read `kube-root-ca.crt` only when they start. */
const readAtStart = {
  // No release has a client-go that reads it again yet.
  coredns: () => true,
  'konnectivity-agent': () => true,
  'kube-proxy': (version: string) => !hasChange(version, 'reloadsKubeconfigCA'),
} as const satisfies Readonly<Record<string, (version: string) => boolean>>;

/**
 * The CA that signs, where an add-on knows it only from its start: its pods are replaced once when another one does. They
 * trust that one then, for `kube-root-ca.crt` has held it since long before.
 */
export function caAtStart(
  addOn: keyof typeof readAtStart,
  { name, spec }: HostedCluster,
  { signers }: Facts,
): Readonly<Record<string, string>> {
  if (!readAtStart[addOn](spec.version)) return {};
  return { 'cluster-ca': signers?.[namesOf(name).secrets.clusterCA]?.slice(0, 12) ?? 'unknown' };
}
