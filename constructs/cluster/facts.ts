import type { HostedControlPlaneSpec } from '../api/hosted-control-plane.ts';
import type { Release } from './release-revisions.ts';

/** The address of a hosted API server. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** The address of a load balancer: an IP address or a host name. */
export interface ServiceAddress {
  readonly ip?: string | undefined;
  readonly hostname?: string | undefined;
}

/** Settings of etcd that depend on its observed state. */
export interface EtcdFacts {
  /** An etcd cluster has been formed. From then on no member may start an empty cluster. */
  readonly isFormed: boolean;
  /** Number of pods of the StatefulSet; 0 while a restore writes to their volumes. */
  readonly pods: number;
  /** `initial-cluster` of members that have not started yet in a cluster that was formed, by ordinal. */
  readonly initialClusters: Readonly<Record<number, string>>;
  /**
   * Ordinals of those members that belong to the formation, and that the others only wait for. They start as the others did. As
   * a member that joins, etcd ends while the cluster that it finds has not decided its version yet.
   */
  readonly founders: readonly number[];
  /** Size of every volume, from which the quota is computed. */
  readonly volumeSize: string;
  /**
   * Size in the StatefulSet's claim template, which cannot change. The operator expands a claim after it was created.
   */
  readonly templateVolumeSize: string;
  /** StorageClass in the claim template, which cannot change either; undefined for the default class. */
  readonly templateStorageClass: string | undefined;
  /** Version to run, without a leading `v`; that of the spec when missing. */
  readonly version?: string | undefined;
  /** Image to run instead of the user's own, while the version of that is not allowed. */
  readonly image?: string | undefined;
  /** Release revision to render it by instead of the cluster's, while its version waits for the rest of an upgrade. */
  readonly releaseRevision?: number | undefined;
}

/** What the management cluster's network is to its control planes. */
export interface ManagementNetwork {
  /** Networks that no control plane may connect to, besides link-local ones, such as `192.0.2.7/32`. */
  readonly denied: readonly string[];
  /** The cluster's DNS; where Kubernetes' own installations have it when missing. */
  readonly dns?: ClusterDns | undefined;
}

/** Where the DNS of the management cluster answers. */
export interface ClusterDns {
  readonly pods: readonly {
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
    /** Ports of the pods: numbers, or names where a Service names them. */
    readonly ports: readonly { readonly number: number | string; readonly protocol: 'TCP' | 'UDP' }[];
  }[];
  /** Addresses without pods, such as a cache on each node, as networks. */
  readonly networks: readonly string[];
}

/** A restore onto one or more volumes. */
export interface RestoreRun {
  /** ID of the run. Directories on the volumes and the IDs of the etcd cluster and members derive from it. */
  readonly run: string;
  /** Size of the snapshot that the pod waits for. */
  readonly sizeBytes: number;
  /** Digest of the snapshot, in hexadecimal digits. */
  readonly sha256: string;
  /** Image of the operator, which runs in the pod and receives the snapshot. */
  readonly operatorImage: string;
}

/** A restore that replaces the data on etcd's volumes. */
export interface EtcdRestoreFacts extends RestoreRun {
  /**
   * The number that is added to revisions, more than in the restore before, which may have been of the same backup. The
   * result is higher than every revision that a watcher can have seen; otherwise the watcher would wait for a revision that now has
   * other content.
   */
  readonly revisionBump: number;
}

/** A probe pod, which shows whether a member of another template would find a node. */
export interface EtcdProbeFacts {
  readonly where: 'here' | 'anywhere';
  /** Name of the member. */
  readonly member: string;
  /** The node of the member that runs. */
  readonly node: string;
  /** Digest of the template. */
  readonly template: string;
  /** Of the pod that is tried. */
  readonly spec: object;
  /** Of the pod that runs. */
  readonly runs: object;
}

/** Issuers of service account tokens, as URLs: the one that signs, and after it others that API servers accept. */
export type Issuers = readonly [signing: string, ...accepted: string[]];

/** An accepted spec, as the operator records it. */
export interface RevisionFacts {
  /** Counts the accepted specs of a control plane, from 1. */
  readonly number: number;
  /** The first generation of the HostedControlPlane with this spec. */
  readonly generation: number;
  /** The spec as JSON, without the fields by which nothing is rendered: `controlPlaneEndpoint` and `machineTemplate`. */
  readonly spec: string;
  /** What the control plane is rendered by besides the spec. */
  readonly release: Release;
  /** Whether all components have become ready by it. */
  readonly hasServed?: boolean | undefined;
  /** Why a component did not become ready by it in time. */
  readonly failure?: string | undefined;
}

/**
 * Everything that a render needs besides the spec. The reconciler observes it; for offline samples and tests it is a
 * literal. Serializable and without secrets: a certificate is represented by the fingerprint of its public part.
 */
export interface Facts {
  /** Missing until it is known. Only then the API server and its clients are rendered. */
  readonly endpoint?: Endpoint | undefined;
  /** Address at which pods of the hosted cluster reach the API server; missing where there is only a hostname. */
  readonly advertiseAddress?: string | undefined;
  /** The endpoint to which konnectivity agents connect. */
  readonly konnectivityEndpoint?: Endpoint | undefined;
  /**
   * The endpoint to which the proxies of the workers connect through a tunnel; missing where the endpoint is not a
   * shared host name.
   */
  readonly tunnelEndpoint?: Endpoint | undefined;
  /** The address of the API server's Service besides its cluster IP, if it has one. */
  readonly serviceAddress?: ServiceAddress | undefined;
  /** Name of the Gateway's listener that the routes attach to. */
  readonly gatewayListener?: string | undefined;
  /** Served version of TLSRoute in which routes are written, such as `v1`. */
  readonly tlsRouteVersion?: string | undefined;
  /** Whether the management cluster serves CiliumNetworkPolicy. */
  readonly ciliumServed?: boolean | undefined;
  /** The network of the management cluster; only link-local networks are denied when missing. */
  readonly managementNetwork?: ManagementNetwork | undefined;
  /** Namespace of the operator, from which network policies allow traffic; missing when it runs outside the cluster. */
  readonly operatorNamespace?: string | undefined;
  /** Image of the operator, which pods that write to etcd's volumes run too; missing when it is unknown. */
  readonly operatorImage?: string | undefined;
  /** Issuers of service account tokens; those of a new control plane when missing. */
  readonly serviceAccountIssuers?: Issuers | undefined;
  /** PEM of the cluster CA certificate, which workers trust. */
  readonly clusterCA?: string | undefined;
  /** Number of nodes of the hosted cluster; missing until the operator has read it. */
  readonly nodes?: number | undefined;
  /**
   * Fingerprints of issued certificates by Secret name. For CAs and service account keys it is the fingerprint of
   * everything that is trusted, in any order. A change of some of them restarts pods.
   */
  readonly certificates: Readonly<Record<string, string>>;
  /** For CAs and service account keys the fingerprint of the one that signs, by Secret name. */
  readonly signers?: Readonly<Record<string, string>> | undefined;
  /** Checksums of the ConfigMaps and Secrets that users mount into the API server, by `<kind>/<name>`. */
  readonly mounts: Readonly<Record<string, string>>;
  /** `spec.rollout.after` once that time has passed. Pods that started with another value are replaced. */
  readonly rolloutAfter?: string | undefined;
  /** The observed state of etcd; when missing, etcd has not been created yet. */
  readonly etcd?: EtcdFacts | undefined;
  /** Whether the Secret with the API servers' encryption configuration exists. */
  readonly encryptionAtRest?: boolean | undefined;
  /** The restore in progress; nothing of it is rendered when missing. */
  readonly etcdRestore?: EtcdRestoreFacts | undefined;
  /** The accepted spec that is reconciled; missing offline. */
  readonly revision?: RevisionFacts | undefined;
  /** The accepted specs to record: the newest one, and the last one by which the control plane has served. */
  readonly revisions?: readonly RevisionFacts[] | undefined;
  /** The spec whose configuration of the API server is being checked; nothing of it is rendered when missing. */
  readonly apiServerCheck?: HostedControlPlaneSpec | undefined;
  /** The verification in progress; nothing of it is rendered when missing. */
  readonly etcdVerify?: RestoreRun | undefined;
  /** A probe of a new placement of a member of etcd. */
  readonly etcdProbe?: EtcdProbeFacts | undefined;
  /** The HostedControlPlane as owner of everything rendered; missing offline, where it has no UID. */
  readonly owner?: Owner | undefined;
}

/** The HostedControlPlane that everything belongs to. */
export interface Owner {
  readonly name: string;
  readonly uid: string;
  /** Whether only its own deletion may end etcd, because a last backup comes before. */
  readonly holdsEtcd?: boolean | undefined;
}

/** Names of facts. */
export type FactName = keyof Facts;

/** Facts of which those named are established: what needs them takes this, so that a missing one does not compile. */
export type FactsWith<Name extends FactName> = Facts & {
  readonly [Key in Name]-?: NonNullable<Facts[Key]>;
};

export function formatEndpoint(endpoint: Endpoint): string {
  return `${endpoint.host.includes(':') ? `[${endpoint.host}]` : endpoint.host}:${endpoint.port}`;
}

/**
 * The fingerprints of the Secrets that a process reads only when it starts, shortened so that a person can compare
 * them.
 */
export function fingerprints(facts: Facts, secrets: readonly string[]): Record<string, string> {
  return Object.fromEntries(secrets.map((secret) => [secret, facts.certificates[secret]?.slice(0, 12) ?? 'unknown']));
}

/** A restart on request, as an entry of what a pod starts with. */
export function rolloutOf({ rolloutAfter }: Facts): Record<string, string> {
  return rolloutAfter === undefined ? {} : { rollout: rolloutAfter };
}
