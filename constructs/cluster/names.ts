/**
 * Names of everything that belongs to one hosted control plane. They derive from the Cluster's name, never from the
 * HostedControlPlane's: a managed topology gives that one a random suffix, and the outside looks things up by Cluster.
 */
export interface Names {
  /** Service in front of the API servers and their konnectivity servers. */
  readonly apiService: string;
  /** Headless Service that gives each etcd member its DNS name, also before it is Ready. */
  readonly etcdPeerService: string;
  /** Service for etcd's clients: Ready members only, so that membership never shows in an API server flag. */
  readonly etcdClientService: string;
  readonly apiServer: string;
  readonly controllerManager: string;
  readonly scheduler: string;
  readonly etcd: string;
  /** Beginning of the names of pods that restore a backup, one per member; the policy for their traffic. */
  readonly etcdRestore: string;
  /** The pod that restores a backup for a trial; the policy for its traffic. */
  readonly etcdVerify: string;
  /** ConfigMap with one etcd configuration file per member. */
  readonly etcdMembers: string;
  /** ConfigMap of the API server's egress selector and the konnectivity server's kubeconfig. */
  readonly konnectivity: string;
  /** TLSRoutes of a Gateway, Ingresses, or what a controller has in their place: no other Cluster's name can end up equal. */
  readonly routes: RouteNames;
  /** ConfigMap of the tunnel's end beside the API server. */
  readonly tunnel: string;
  /** Secrets. The first five follow Cluster API's convention (`<cluster>-<purpose>`). */
  readonly secrets: {
    readonly clusterCA: string;
    readonly etcdCA: string;
    readonly frontProxyCA: string;
    readonly serviceAccount: string;
    readonly kubeconfig: string;
    readonly apiServer: string;
    readonly apiServerKubeletClient: string;
    readonly apiServerEtcdClient: string;
    readonly frontProxyClient: string;
    readonly etcdServer: string;
    readonly etcdPeer: string;
    readonly konnectivityServer: string;
    readonly konnectivityClient: string;
    readonly tunnel: string;
    readonly controllerManager: string;
    readonly scheduler: string;
    readonly controller: string;
    /** Our own identity for etcd. */
    readonly etcdController: string;
    /** The API server's encryption configuration, with the keys of Secrets in etcd. */
    readonly encryption: string;
  };
}

/** One route per host name, by what it leads to. */
interface RouteNames {
  readonly api: string;
  readonly konnectivity: string;
  readonly tunnel: string;
}

/** The names of the hosted control plane of Cluster `cluster`. */
export function namesOf(cluster: string): Names {
  return {
    apiService: `s-${cluster}`,
    etcdPeerService: `e-${cluster}-etcd`,
    etcdClientService: `e-${cluster}-etcd-client`,
    apiServer: `${cluster}-api-server`,
    controllerManager: `${cluster}-controller-manager`,
    scheduler: `${cluster}-scheduler`,
    etcd: `${cluster}-etcd`,
    etcdRestore: `${cluster}-etcd-restore`,
    etcdVerify: `${cluster}-etcd-verify`,
    etcdMembers: `${cluster}-etcd-members`,
    konnectivity: `${cluster}-konnectivity`,
    routes: {
      api: `${cluster}-api`,
      konnectivity: `${cluster}-konnectivity`,
      tunnel: `${cluster}-tunnel`,
    },
    tunnel: `${cluster}-tunnel`,
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
      etcdController: `${cluster}-etcd-controller`,
      encryption: `${cluster}-encryption`,
    },
  };
}

/** The Secret in which the successor of an authority or of a key of tokens waits. */
export function successorSecretName(secret: string): string {
  return `${secret}-next`;
}

/** The Secret that keeps the key of an authority from before an issuer is asked until it is there. */
export function requestSecretName(secret: string): string {
  return `${secret}-request`;
}

/** The pod, and etcd member, with this ordinal. */
export function etcdMember(cluster: string, ordinal: number): string {
  return `${namesOf(cluster).etcd}-${ordinal}`;
}

/** The volume claim of a member: `etcd-data` is the claim template's name. */
export function etcdVolumeClaim(cluster: string, ordinal: number): string {
  return `etcd-data-${etcdMember(cluster, ordinal)}`;
}

/** The pod that restores a backup onto the volume of the member with this ordinal. */
export function etcdRestorePod(cluster: string, ordinal: number): string {
  return `${namesOf(cluster).etcdRestore}-${ordinal}`;
}

/** The DNS name under which a member reaches its peers. Without a domain: `.svc` is completed by the pod's search list. */
export function etcdMemberHost(cluster: { name: string; namespace: string }, ordinal: number): string {
  return `${etcdMember(cluster.name, ordinal)}.${namesOf(cluster.name).etcdPeerService}.${cluster.namespace}.svc`;
}

/** What the StatefulSet controller appends to a StatefulSet's name in a label of its pods: a dash and a 32-bit number. */
const longestRevision = '-4294967295'.length;

/** Longest name of a Cluster: with a longer one etcd's pods would carry a label value of more than 63 characters. */
export const maxClusterNameLength = 63 - namesOf('').etcd.length - longestRevision;
