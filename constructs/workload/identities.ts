/** Users that certificates of a hosted control plane name and that RBAC objects of the hosted cluster grant rights to. */
export const users = {
  /** Our own client of the hosted cluster. */
  controller: 'hosted-control-plane-controller',
  konnectivityServer: 'system:konnectivity-server',
  kubeletClient: 'kube-apiserver-kubelet-client',
} as const;
