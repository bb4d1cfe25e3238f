/** Where a hosted API server is reached. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** What a load balancer was given: one of both. */
export interface ServiceAddress {
  readonly ip?: string | undefined;
  readonly hostname?: string | undefined;
}

/** How etcd is to be run, as far as that depends on what there is. */
export interface EtcdFacts {
  /** An etcd cluster was formed here once: no member may start an empty one any more. */
  readonly isFormed: boolean;
  /** Pods of the StatefulSet; 0 while a restore works on their volumes. */
  readonly pods: number;
  /** `initial-cluster` of members that have yet to start in a cluster that was formed, by ordinal. */
  readonly initialClusters: Readonly<Record<number, string>>;
  /** Size that every volume has: what the quota is made for. */
  readonly volumeSize: string;
  /** Size in the StatefulSet's claim template. It cannot change: a claim that is made from it grows afterwards. */
  readonly templateVolumeSize: string;
  /** Version to run, without a leading `v`; the one of the spec when missing. */
  readonly version?: string | undefined;
}

/** A restore onto one volume or several. */
export interface RestoreRun {
  /** Id of the run. It names directories on the volumes, and makes the ids of etcd's cluster and members. */
  readonly run: string;
  /** Of the snapshot that the pod waits for. */
  readonly sizeBytes: number;
  /** Of the snapshot, in hexadecimal digits. */
  readonly sha256: string;
  /** Image of the operator, which receives the snapshot. */
  readonly operatorImage: string;
}

/** A restore that makes etcd's volumes anew. */
export interface EtcdRestoreFacts extends RestoreRun {
  /**
   * What revisions go up by: beyond all that any watcher can have seen, who would wait for a future that has become
   * another one.
   */
  readonly revisionBump: number;
}

/**
 * What a render must know about the world: observed by the reconciler, a literal for offline samples and tests.
 * Serialisable and free of secrets: a certificate appears as the fingerprint of its public part.
 */
export interface Facts {
  /** Missing until it is known: the API server and what talks to it are rendered only then. */
  readonly endpoint?: Endpoint | undefined;
  /** Address at which pods of the hosted cluster reach the API server; missing where there is only a hostname. */
  readonly advertiseAddress?: string | undefined;
  /** Where konnectivity agents dial. */
  readonly konnectivityEndpoint?: Endpoint | undefined;
  /** Where proxies of the workers dial when they need a tunnel; missing where the endpoint is no host name many share. */
  readonly tunnelEndpoint?: Endpoint | undefined;
  /** The address of the API server's Service, where it has one besides its cluster IP. */
  readonly serviceAddress?: ServiceAddress | undefined;
  /** Name of the Gateway's listener that the routes attach to. */
  readonly gatewayListener?: string | undefined;
  /** Served version of TLSRoute that routes are written in, such as `v1`. */
  readonly tlsRouteVersion?: string | undefined;
  /** Whether the management cluster serves CiliumNetworkPolicy. */
  readonly ciliumServed?: boolean | undefined;
  /** Namespace the operator runs in, which network policies let in; missing where it runs outside of the cluster. */
  readonly operatorNamespace?: string | undefined;
  /** Image the operator runs as, which pods that work on etcd's volumes run too; missing where nobody knows it. */
  readonly operatorImage?: string | undefined;
  /** PEM of the cluster's certificate authority, its public part: what workers are told to trust. */
  readonly clusterCA?: string | undefined;
  /** Nodes of the hosted cluster; missing until it could be asked. */
  readonly nodes?: number | undefined;
  /**
   * Fingerprints of issued certificates by Secret name; of authorities and service account keys that of all that are
   * trusted, in whatever order. A change of some of them restarts pods.
   */
  readonly certificates: Readonly<Record<string, string>>;
  /** Of authorities and service account keys the fingerprint of the one that signs, by Secret name. */
  readonly signers?: Readonly<Record<string, string>> | undefined;
  /** Checksums of the ConfigMaps and Secrets that users mount into the API server, by `<kind>/<name>`. */
  readonly mounts: Readonly<Record<string, string>>;
  /** `spec.rollout.after` once that time has come: pods that started for another value of it are replaced. */
  readonly rolloutAfter?: string | undefined;
  /** What the world says of etcd; a cluster that is not there yet when missing. */
  readonly etcd?: EtcdFacts | undefined;
  /** The Secret with the API servers' encryption configuration is there. */
  readonly encryptionAtRest?: boolean | undefined;
  /** The restore that is going on; nothing of it is rendered when there is none. */
  readonly etcdRestore?: EtcdRestoreFacts | undefined;
  /** The trial restore that is going on; nothing of it is rendered when there is none. */
  readonly etcdVerify?: RestoreRun | undefined;
  /** The HostedControlPlane as owner of everything rendered; missing offline, where it has no uid. */
  readonly owner?: { readonly name: string; readonly uid: string } | undefined;
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

/** The fingerprints of what a process reads only when it starts, shortened to what a person can compare. */
export function fingerprints(facts: Facts, secrets: readonly string[]): Record<string, string> {
  return Object.fromEntries(secrets.map((secret) => [secret, facts.certificates[secret]?.slice(0, 12) ?? 'unknown']));
}

/** A restart on request as one of the things a pod starts with. etcd takes no part: its data is what restarts risk. */
export function rolloutOf({ rolloutAfter }: Facts): Record<string, string> {
  return rolloutAfter === undefined ? {} : { rollout: rolloutAfter };
}
