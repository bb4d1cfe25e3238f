/**
 * Names of all objects of one hosted control plane. They derive from the name of the Cluster, not of the
 * HostedControlPlane: a managed topology appends a random suffix to the latter, and other controllers find the objects
 * by Cluster.
 */
export type Names = ReturnType<typeof namesOf>;

/** The names of the hosted control plane of Cluster `cluster`. */
export function namesOf(cluster: string) {
  return {
    /** Service in front of the API servers and their konnectivity servers. */
    apiService: `s-${cluster}`,
    /** Headless Service that gives each etcd member its DNS name, also before it is Ready. */
    etcdPeerService: `e-${cluster}-etcd`,
    /**
     * Service for etcd's clients. It selects only Ready members, so that a membership change never changes a flag of the
     * API server.
     */
    etcdClientService: `e-${cluster}-etcd-client`,
    apiServer: `${cluster}-api-server`,
    /** The pod that checks the configuration of API servers, its ConfigMap, and the policy for its traffic. */
    apiServerCheck: `${cluster}-api-server-check`,
    controllerManager: `${cluster}-controller-manager`,
    scheduler: `${cluster}-scheduler`,
    etcd: `${cluster}-etcd`,
    /**
     * Prefix of the names of the pods that restore a backup, one per member, and name of the policy for their traffic.
     */
    etcdRestore: `${cluster}-etcd-restore`,
    /** The pod that verifies a backup, and the policy for its traffic. */
    etcdVerify: `${cluster}-etcd-verify`,
    /** ConfigMap with one etcd configuration file per member. */
    etcdMembers: `${cluster}-etcd-members`,
    /** ConfigMap of the API server's egress selector and the konnectivity server's kubeconfig. */
    konnectivity: `${cluster}-konnectivity`,
    /** ConfigMap of the API server's audit configuration. */
    audit: `${cluster}-audit`,
    /** Secret with copies of the tokens of audit receivers. */
    auditTokens: `${cluster}-audit-tokens`,
    /**
     * TLSRoutes of a Gateway, Ingresses, or the equivalent of an ingress controller. These names never collide with those
     * of another Cluster.
     */
    routes: {
      api: `${cluster}-api`,
      konnectivity: `${cluster}-konnectivity`,
      tunnel: `${cluster}-tunnel`,
    },
    /** ConfigMap with the API server's authentication configuration. */
    authentication: `${cluster}-authentication`,
    /** ConfigMap of the tunnel's endpoint next to the API server. */
    tunnel: `${cluster}-tunnel`,
    /** Secrets. The first five follow Cluster API's convention (`<cluster>-<purpose>`). */
    secrets: {
      clusterCA: `${cluster}-ca`,
      etcdCA: `${cluster}-etcd`,
      frontProxyCA: `${cluster}-proxy`,
      serviceAccount: `${cluster}-sa`,
      kubeconfig: `${cluster}-kubeconfig`,
      apiServer: `${cluster}-apiserver`,
      apiServerKubeletClient: `${cluster}-apiserver-kubelet-client`,
      apiServerEtcdClient: `${cluster}-apiserver-etcd-client`,
      frontProxyClient: `${cluster}-front-proxy-client`,
      etcdServer: `${cluster}-etcd-server`,
      etcdPeer: `${cluster}-etcd-peer`,
      konnectivityServer: `${cluster}-konnectivity-server`,
      konnectivityClient: `${cluster}-konnectivity-client`,
      tunnel: `${cluster}-tunnel`,
      controllerManager: `${cluster}-controller-manager`,
      scheduler: `${cluster}-scheduler`,
      controller: `${cluster}-control-plane-controller`,
      /** The operator's client certificate for etcd. */
      etcdController: `${cluster}-etcd-controller`,
      /** The API server's encryption configuration, with the encryption keys of Secrets in etcd. */
      encryption: `${cluster}-encryption`,
    },
  };
}

/** What the Secrets of a control plane are for, as their names end. */
export const secretPurposes: readonly string[] = [...Object.values(namesOf('').secrets), namesOf('').auditTokens].map(
  (name) => name.slice(1),
);

/** The Secret with the successor of a CA or of a service account key, during a rotation. */
export function successorSecretName(secret: string): string {
  return `${secret}-next`;
}

/** The copy of a Secret that cannot be made again, while one of its name takes the place of one that was deleted. */
export function copySecretName(secret: string): string {
  return `${secret}-copy`;
}

/** The Secret that holds the key of a CA from before the certificate request until the issuer has signed the CA. */
export function requestSecretName(secret: string): string {
  return `${secret}-request`;
}

/** The ConfigMap that records an accepted spec. */
export function revisionName(cluster: string, number: number): string {
  return `${cluster}-revision-${number}`;
}

/** The number in a {@link revisionName}; undefined for other names. */
export function revisionNumber(cluster: string, name: string): number | undefined {
  const digits = name.startsWith(`${cluster}-revision-`) ? name.slice(`${cluster}-revision-`.length) : '';
  return /^[1-9][0-9]*$/.test(digits) ? Number(digits) : undefined;
}

/** The name of the pod and of the etcd member with this ordinal. */
export function etcdMember(cluster: string, ordinal: number): string {
  return `${namesOf(cluster).etcd}-${ordinal}`;
}

/** The volume claim of a member: `etcd-data` is the claim template's name. */
export function etcdVolumeClaim(cluster: string, ordinal: number): string {
  return `etcd-data-${etcdMember(cluster, ordinal)}`;
}

/** Name of a pod that shows whether a member of another template would find a node: that of the one that runs, or any. */
export function etcdProbePod(member: string, where: 'here' | 'anywhere'): string {
  return `${member}-probe-${where}`;
}

/** The pod that restores a backup onto the volume of the member with this ordinal. */
export function etcdRestorePod(cluster: string, ordinal: number): string {
  return `${namesOf(cluster).etcdRestore}-${ordinal}`;
}

/**
 * The DNS name at which peers reach a member. It ends in `.svc` without the cluster domain, which the pod's search list
 * adds.
 */
export function etcdMemberHost(cluster: { name: string; namespace: string }, ordinal: number): string {
  return `${etcdMember(cluster.name, ordinal)}.${namesOf(cluster.name).etcdPeerService}.${cluster.namespace}.svc`;
}

/**
 * The suffix that the StatefulSet controller appends to a StatefulSet's name in a label of its pods: a dash and a
 * 32-bit number.
 */
const longestRevision = '-4294967295'.length;

/**
 * Maximum length of a Cluster's name. With a longer one, etcd's pods would have a label value of more than 63
 * characters.
 */
export const maxClusterNameLength = 63 - namesOf('').etcd.length - longestRevision;

/** Secret with a kubeconfig that the spec declares under this name. */
export function declaredKubeconfig(cluster: string, name: string): string {
  return `${namesOf(cluster).secrets.kubeconfig}-${name}`;
}
