import { providerLabel, providerLabelValue } from '../api/group.ts';

/** Namespace of the installation; `clusterctl init --target-namespace` replaces it. */
export const providerNamespace = 'capi-hosted-control-plane-system';

const prefixed = (name: string) => `capi-hosted-control-plane-${name}`;

/** Names of the objects of the installation. */
export const providerNames = {
  manager: prefixed('controller-manager'),
  serviceAccount: prefixed('manager'),
  managerRole: prefixed('manager'),
  leaderElectionRole: prefixed('leader-election'),
  clusterApiRole: prefixed('cluster-api'),
  tenantRole: prefixed('tenant'),
  bootstrapRole: prefixed('kubeadm-bootstrap'),
  backupIdentityRole: prefixed('backup-identity'),
  kubeconfigRole: prefixed('kubeconfig'),
  kubeconfigRequestRole: prefixed('kubeconfig-request'),
  metricsReaderRole: prefixed('metrics-reader'),
} as const;

/** Port of the operator's metrics in the installation. */
export const metricsPort = 8443;
export const metricsPortName = 'metrics';

/** Path of the operator's metrics. */
export const metricsPath = '/metrics';

/**
 * The ClusterRole of an operator that watches one namespace. Several such operators may be installed, each with its own.
 */
export function sharedRoleOf(namespace: string): string {
  return `${providerNames.managerRole}-${namespace}`;
}

/**
 * A policy of an installation: on what its operator may write, or on what may be deleted. An operator that watches one namespace has
 * policies of its own.
 */
export function policyOf(limits: 'operator-places' | 'operator-objects' | 'deletion', namespace?: string): string {
  const name = prefixed(limits);
  return namespace === undefined ? name : `${name}-${namespace}`;
}

/** Labels of every object. clusterctl finds, upgrades and deletes the provider by them. */
export const providerLabels: Readonly<Record<string, string>> = { [providerLabel]: providerLabelValue };

/** Selects the operator's pods. Part of an immutable selector: never add a label here. */
export const managerSelector: Readonly<Record<string, string>> = {
  ...providerLabels,
  'control-plane': 'controller-manager',
};

/** The API group of Kubernetes' own authorization objects. */
export const rbacGroup = 'rbac.authorization.k8s.io';

/** Aggregates a ClusterRole into the one of Cluster API's core. */
export const coreAggregationLabel = 'cluster.x-k8s.io/aggregate-to-manager';
