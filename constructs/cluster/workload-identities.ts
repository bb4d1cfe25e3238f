/** Users that certificates of a hosted control plane name and that RBAC objects of the hosted cluster grant rights to. */
export const users = {
  /** Our own client of the hosted cluster. */
  controller: 'hosted-control-plane-controller',
  konnectivityServer: 'system:konnectivity-server',
  kubeletClient: 'kube-apiserver-kubelet-client',
} as const;

/** Groups of machines, by the names kubeadm uses. */
export const groups = {
  /** Whoever holds a bootstrap token that kubeadm, or Cluster API's bootstrap provider, has made. */
  bootstrappers: 'system:bootstrappers:kubeadm:default-node-token',
  nodes: 'system:nodes',
  /** Administrators that can be shut out again, unlike `system:masters`; kubeadm's own kubeconfigs name this group. */
  administrators: 'kubeadm:cluster-admins',
} as const;

/** Service accounts of the add-ons, all in kube-system. */
export const serviceAccounts = {
  kubeProxy: 'kube-proxy',
  coredns: 'coredns',
  konnectivityAgent: 'konnectivity-agent',
} as const;

/** Whom the tokens of konnectivity agents are for; nobody else accepts them. */
export const konnectivityAudience = 'system:konnectivity-server';

/** Who signs what kubelets serve with. Kubernetes itself approves none of its requests. */
export const kubeletServingSigner = 'kubernetes.io/kubelet-serving';
