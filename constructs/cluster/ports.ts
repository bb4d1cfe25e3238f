/**
 * Every port of a hosted control plane, by the process that listens on it. Containers, Services, probes and flags
 * derive from this list.
 */
export const ports = {
  /** Kubernetes API, on the Service and, unless the endpoint is an address with another port, in the pod. */
  api: 6443,
  konnectivityAgent: 8132,
  konnectivityAdmin: 8133,
  konnectivityHealth: 8134,
  /** The audit fan-out, on the loopback address of the pod. */
  audit: 8135,
  /** Its health and metrics. */
  auditHealth: 8136,
  /** Outer TLS of the tunnel to which the proxies of the workers connect. */
  tunnel: 6444,
  /** Health endpoint of both ends of the tunnel: on the pod's address, and on the loopback address of nodes. */
  tunnelHealth: 6445,
  etcdClient: 2379,
  etcdPeer: 2380,
  etcdMetrics: 2381,
  /** Its HTTP API with TLS, of which the operator reads the version of the cluster. */
  etcdHTTP: 2382,
  controllerManager: 10257,
  scheduler: 10259,
} as const;
