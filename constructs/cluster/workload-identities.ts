import { componentUsers } from '../api/reserved-names.ts';

/**
 * Users that certificates of a hosted control plane name, and to which RBAC objects of the hosted cluster grant
 * permissions.
 */
export const users = {
  ...componentUsers,
  konnectivityServer: 'system:konnectivity-server',
} as const;

/** Groups of machines, by the names kubeadm uses. */
export const groups = {
  /** Holders of a bootstrap token that kubeadm, or Cluster API's bootstrap provider, has created. */
  bootstrappers: 'system:bootstrappers:kubeadm:default-node-token',
  nodes: 'system:nodes',
  /**
   * Administrators whose permissions can be revoked, unlike those of `system:masters`. kubeadm's kubeconfigs use this
   * group.
   */
  administrators: 'kubeadm:cluster-admins',
} as const;

/** Service accounts of the add-ons, all in kube-system. */
export const serviceAccounts = {
  kubeProxy: 'kube-proxy',
  coredns: 'coredns',
  konnectivityAgent: 'konnectivity-agent',
} as const;

/** Audience of the tokens of konnectivity agents. Only konnectivity servers accept it. */
export const konnectivityAudience = 'system:konnectivity-server';

/** Signer of the certificates with which kubelets authenticate. Kubernetes approves requests for it. */
export const kubeletClientSigner = 'kubernetes.io/kube-apiserver-client-kubelet';

/** Signer of the serving certificates of kubelets. Kubernetes does not approve requests for it. */
export const kubeletServingSigner = 'kubernetes.io/kubelet-serving';

/** The signers of all certificates that nodes get. */
export const nodeSigners: readonly string[] = [kubeletClientSigner, kubeletServingSigner];
