import type { k8s } from 'cdk8s-plus-30';

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
