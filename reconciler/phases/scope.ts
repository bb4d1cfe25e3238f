import type { ConditionType } from '../../constructs/api/conditions.ts';
import type { HostedControlPlane } from '../../constructs/api/hosted-control-plane.ts';
import type { HostedCluster } from '../../constructs/cluster/cluster.ts';
import type { Facts } from '../../constructs/cluster/facts.ts';
import type { RenderedObject } from '../../constructs/control-plane/chart.ts';
import type { Work, WorkContext } from '../tasks/background-work.ts';
import type { AwaitedFinalBackup } from '../backup/final-backup.ts';
import type { StoreReader } from '../backup/store-access.ts';
import type { EtcdLoop } from '../etcd/loop.ts';
import type { ClusterObject } from '../management/cluster-object.ts';
import type { CertificateRequest } from '../hosted/certificate-request.ts';
import type { NodeObject } from '../hosted/node-object.ts';
import type { PublishedTrust, ServerTrust } from '../hosted/published-trust.ts';
import type { StoredToken } from '../hosted/service-account-tokens.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Outcome } from '../engine/outcome.ts';
import type { TrustProbes } from '../rotation/ca/trust-probes.ts';
import type { DeletionWriter, SharedResources, Reader, Writer } from '../management/view.ts';

/**
 * The reconciler's access to a hosted cluster. Reads come from a cache that watches keep current. A change that a watch
 * reports triggers another reconcile.
 */
export interface HostedClient {
  /**
   * Server-side-applies the objects that have changed, and returns the live objects in the same order. It writes
   * objects that grant permissions as administrator, and all others with the operator's identity.
   * @throws HostedClusterNotReady when the API server does not answer, or does not know the operator's permissions yet
   */
  apply<T extends KubeObject = KubeObject>(objects: readonly RenderedObject[]): Promise<T[]>;
  /**
   * Deletes objects that the operator has applied and that are not in `keep`.
   * @param keep all rendered objects
   * @throws HostedClusterNotReady when the API server does not answer
   */
  prune(keep: readonly RenderedObject[]): Promise<void>;
  /** Starts the watches if they do not run yet. The operator's permissions must exist. */
  watch(): void;
  /** Number of Nodes; undefined until they have been listed. */
  nodes(): number | undefined;
  /** Metadata of every Node; undefined until they have been listed. */
  nodeMetadata(): readonly KubeObject[] | undefined;
  /**
   * Sets annotations of this Node, removes annotations that the operator has set before and that are not in the list,
   * and changes nothing else. A Node that does not exist is ignored.
   * @throws HostedClusterNotReady when the API server does not answer
   */
  annotateNode(node: KubeObject, annotations: Readonly<Record<string, string>>): Promise<void>;
  /** CertificateSigningRequests of all signers and states; undefined until they have been listed. */
  certificateRequests(): readonly CertificateRequest[] | undefined;
  /**
   * Reads a Node from the API server, because the cache contains no addresses. @throws HostedClusterNotReady when the
   * API server does not answer
   */
  node(name: string): Promise<NodeObject | undefined>;
  /**
   * Approves exactly this request. A request that was deleted or denied meanwhile is ignored.
   * @param why reason, for readers of the request
   * @throws HostedClusterNotReady when the API server does not answer
   */
  approve(request: CertificateRequest, why: string): Promise<void>;
  /** Whether the controller manager has created the `default` service account, which shows that controllers work. */
  controllersWork(): boolean;
  /**
   * Hash of the encryption configuration that one API server has loaded; undefined when it reports none.
   * @param address IP address of its pod
   * @throws when it does not answer
   */
  loadedEncryption(address: string): Promise<string | undefined>;
  /**
   * IDs of the keys whose service account tokens one API server accepts.
   * @param address IP address of its pod
   * @throws when it does not answer
   */
  verifyingKeys(address: string): Promise<readonly string[]>;
  /** ID of the key with which one API server signs such tokens. @throws when it does not answer */
  signingKey(address: string): Promise<string | undefined>;
  /** Tokens that are stored in Secrets. Slow: a reconcile must not wait for it. */
  storedTokens(): Promise<readonly StoredToken[]>;
  /**
   * Rewrites every Secret, so that it is encrypted with the current write key. Slow: a reconcile must not wait for it.
   */
  rewriteSecrets(context: WorkContext): Promise<void>;
  /**
   * The published CA certificates that users and programs in the cluster trust. Slow: a reconcile must not wait for it.
   */
  publishedTrust(): Promise<readonly PublishedTrust[]>;
  /**
   * Publishes only these of the CA certificates that API servers trust. An API server that trusts others adds them
   * again.
   */
  republishTrust(kind: ServerTrust, certificates: string): Promise<void>;
  /** The answer of `/readyz` through the published endpoint. @throws when it cannot be reached or is not ready. */
  readyThroughEndpoint(): Promise<void>;
}

/** Result of an endpoint probe. */
export type ProbeResult =
  | { readonly kind: 'works' }
  | { readonly kind: 'fails'; readonly error: unknown; readonly retryAt?: Date | undefined }
  /** The first attempt is in progress; another reconcile follows when it has ended. */
  | { readonly kind: 'unknown' };

/** Probes the endpoint, in the background when it takes long. */
export interface EndpointProbe {
  /** Returns the newest result. Starts a new attempt when it is due, and immediately when the inputs have changed. */
  look(dependsOn: unknown, attempt: () => Promise<void>): Promise<ProbeResult>;
}

/** The input of a phase in one reconcile. */
export interface Scope {
  readonly hostedControlPlane: HostedControlPlane;
  readonly clusterObject: ClusterObject;
  readonly cluster: HostedCluster;
  /** Facts that the phases it needs have established. */
  readonly facts: Facts;
  readonly reader: Reader;
  readonly sharedResources: SharedResources;
  readonly writer: Writer;
  /** A client of the hosted cluster, with the credentials from its Secrets. */
  hosted(facts: Facts): HostedClient;
  readonly endpointProbe: EndpointProbe;
  /** Probes servers of single pods for the CAs they trust and the certificate they present. */
  readonly trustProbes: TrustProbes;
  /** Background work, such as uploads, for which no reconcile waits. */
  readonly work: Work;
  /** Manages etcd's members, independent of reconciles. */
  readonly etcdLoop: EtcdLoop;
  /** Reads the objects that are needed to open a backup store. */
  readonly storeReader: StoreReader;
  readonly now: Date;
}

/** The input of a deletion. It needs neither a valid spec nor a Cluster. */
export interface DeletionScope {
  /** Name of the Cluster whose control plane is deleted. */
  readonly cluster: string;
  readonly ownerUid: string | undefined;
  /** Whether etcd's volumes are retained. */
  readonly retainVolumes: boolean;
  /** Takes the final backup after the last write to etcd, and returns what the deletion still waits for. */
  readonly finalBackup: () => AwaitedFinalBackup | undefined;
  readonly reader: Reader;
  readonly writer: DeletionWriter;
}

/** One step of a reconcile. It runs when all phases that it needs are done. */
export interface Phase {
  readonly condition: ConditionType;
  readonly needs: readonly Phase[];
  run(scope: Scope): Promise<Outcome>;
}

/**
 * A fact that previous phases have established. @throws when they have not, because a phase does not list one of its
 * needs
 */
export function known<Name extends keyof Facts>(facts: Facts, name: Name): NonNullable<Facts[Name]> {
  const value = facts[name];
  if (value === undefined || value === null) throw new Error(`the fact "${name}" is not known yet`);
  return value;
}
