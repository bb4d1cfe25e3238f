/** Workloads that are to be stopped. */
export interface Running {
  /** Workloads with desired replicas. */
  readonly wanted: readonly string[];
  /** Their pods. */
  readonly pods: readonly string[];
}

/** The observed state of an import. */
export interface ImportInput {
  /** The HostedControlPlane has the snapshot in its spec, and is not paused any more. */
  readonly isHandedOver: boolean;
  /** The HostedControlPlane is paused, so that no operator acts. */
  readonly isPaused: boolean;
  /** The keys of the cluster are recorded. */
  readonly hasRecord: boolean;
  /** Volumes of etcd whose data would be deleted with their claims. */
  readonly unkeptVolumes: readonly string[];
  /** Everything that uses etcd. */
  readonly servers: Running;
  /** Whether the record has the time at which the API servers were stopped. */
  readonly isStopRecorded: boolean;
  /** The snapshot that is stored and checked. */
  readonly snapshot: string | undefined;
  readonly etcd: Running;
  /** Objects of the other provider that would get in the way. */
  readonly leftovers: readonly string[];
  /** Secrets of the new control plane that do not exist. */
  readonly missingSecrets: readonly string[];
}

/** The next step. What was done is observed, so that an interrupted import continues. */
export type ImportDecision =
  | { readonly kind: 'pause' }
  | { readonly kind: 'record' }
  | { readonly kind: 'keepVolumes'; readonly volumes: readonly string[] }
  /** The API is unavailable from here on. */
  | { readonly kind: 'stopServers'; readonly workloads: readonly string[] }
  | { readonly kind: 'awaitServers'; readonly pods: readonly string[] }
  | { readonly kind: 'storeSnapshot' }
  | { readonly kind: 'stopEtcd'; readonly workloads: readonly string[] }
  | { readonly kind: 'awaitEtcd'; readonly pods: readonly string[] }
  | { readonly kind: 'removeLeftovers'; readonly objects: readonly string[] }
  | { readonly kind: 'writeSecrets'; readonly secrets: readonly string[] }
  /** The HostedControlPlane gets the snapshot, and the operator starts. */
  | { readonly kind: 'handOver' }
  | { readonly kind: 'follow' };

/**
 * The next step of an import. Nothing is stopped before the keys are recorded and the volumes are kept; etcd is not
 * stopped before its final data are stored and read back; nothing is deleted before that.
 */
export function planImport(observed: ImportInput): ImportDecision {
  const { servers, etcd } = observed;
  if (observed.isHandedOver) return { kind: 'follow' };
  if (!observed.isPaused) return { kind: 'pause' };
  if (!observed.hasRecord) return { kind: 'record' };
  if (observed.unkeptVolumes.length > 0) return { kind: 'keepVolumes', volumes: observed.unkeptVolumes };
  if (servers.wanted.length > 0 || !observed.isStopRecorded) return { kind: 'stopServers', workloads: servers.wanted };
  if (servers.pods.length > 0) return { kind: 'awaitServers', pods: servers.pods };
  if (observed.snapshot === undefined) return { kind: 'storeSnapshot' };
  if (etcd.wanted.length > 0) return { kind: 'stopEtcd', workloads: etcd.wanted };
  if (etcd.pods.length > 0) return { kind: 'awaitEtcd', pods: etcd.pods };
  if (observed.leftovers.length > 0) return { kind: 'removeLeftovers', objects: observed.leftovers };
  if (observed.missingSecrets.length > 0) return { kind: 'writeSecrets', secrets: observed.missingSecrets };
  return { kind: 'handOver' };
}
