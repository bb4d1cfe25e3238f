/** Prefix of the names of users and groups that are Kubernetes' own. */
export const reservedPrefix = 'system:';

/** Prefix of the names of groups that kubeadm binds to rights, those of administrators among them. */
export const kubeadmPrefix = 'kubeadm:';

/** Users of components of a control plane whose names do not have that prefix. */
export const componentUsers = {
  /** The operator's client of the hosted cluster. */
  controller: 'hosted-control-plane-controller',
  /** The API server towards kubelets. */
  kubeletClient: 'kube-apiserver-kubelet-client',
} as const;

/** Whether a name is one of Kubernetes or of a component, for which no person or program gets a certificate. */
export function isReserved(name: string): boolean {
  return name.startsWith(reservedPrefix) || Object.values<string>(componentUsers).includes(name);
}
