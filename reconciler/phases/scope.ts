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
 * What the reconciler knows of a hosted cluster and does there. Answers come from memory: watches keep it current, and a
 * change of what they see leads to another pass.
 */
export interface HostedClient {
  /**
   * Server-side-applies what is not provably there already; returns the live objects in the same order. What grants
   * rights is written as administrator, everything else as ourselves.
   * @throws HostedClusterNotReady when the API server does not answer, or does not know of our rights yet
   */
  apply<T extends KubeObject = KubeObject>(objects: readonly RenderedObject[]): Promise<T[]>;
  /**
   * Deletes what we have applied once and is not to be kept.
   * @param keep everything that is rendered, complete
   * @throws HostedClusterNotReady when the API server does not answer
   */
  prune(keep: readonly RenderedObject[]): Promise<void>;
  /** Begins to watch, if it has not: our rights are there. */
  watch(): void;
  /** How many Nodes there are; undefined until that has been seen. */
  nodes(): number | undefined;
  /** What the metadata of every Node says; undefined until they have been listed. */
  nodeMetadata(): readonly KubeObject[] | undefined;
  /**
   * Sets annotations of exactly this Node, takes back those it has set before and are not named again, and touches
   * nothing else of it. One that is gone is fine.
   * @throws HostedClusterNotReady when the API server does not answer
   */
  annotateNode(node: KubeObject, annotations: Readonly<Record<string, string>>): Promise<void>;
  /** Requests for certificates, of any signer and in any state; undefined until they have been listed. */
  certificateRequests(): readonly CertificateRequest[] | undefined;
  /** Reads a Node past the memory, which holds no addresses. @throws HostedClusterNotReady when nobody answers */
  node(name: string): Promise<NodeObject | undefined>;
  /**
   * Approves this very request; one that is gone, or denied meanwhile, is left alone.
   * @param why for people who read the request
   * @throws HostedClusterNotReady when the API server does not answer
   */
  approve(request: CertificateRequest, why: string): Promise<void>;
  /** Whether the controller manager has made the `default` service account: the sign that controllers work. */
  controllersWork(): boolean;
  /**
   * Hash of the encryption configuration that one API server has loaded; undefined when it tells of none.
   * @param address IP address of its pod
   * @throws when it does not answer
   */
  loadedEncryption(address: string): Promise<string | undefined>;
  /**
   * Ids of the keys whose service account tokens one API server accepts.
   * @param address IP address of its pod
   * @throws when it does not answer
   */
  verifyingKeys(address: string): Promise<readonly string[]>;
  /** Id of the key with which one API server signs such tokens. @throws when it does not answer */
  signingKey(address: string): Promise<string | undefined>;
  /** Tokens that are kept in Secrets. Slow: nothing that a pass waits for. */
  storedTokens(): Promise<readonly StoredToken[]>;
  /** Has every Secret stored anew, under the key that writes now. Slow: nothing that a pass waits for. */
  rewriteSecrets(context: WorkContext): Promise<void>;
  /** What tells people and programs in the cluster whom to trust. Slow: nothing that a pass waits for. */
  publishedTrust(): Promise<readonly PublishedTrust[]>;
  /** Publishes only these of whom API servers trust; one that trusts others adds them again. */
  republishTrust(kind: ServerTrust, certificates: string): Promise<void>;
  /** The answer of `/readyz` through the published endpoint. @throws when it cannot be reached or is not ready. */
  readyThroughEndpoint(): Promise<void>;
}

/** What trying an endpoint has shown. */
export type ProbeResult =
  | { readonly kind: 'works' }
  | { readonly kind: 'fails'; readonly error: unknown; readonly retryAt?: Date | undefined }
  /** The first attempt has not ended; another pass comes when it has. */
  | { readonly kind: 'unknown' };

/** Tries whether the endpoint works, beside the pass when it takes long. */
export interface EndpointProbe {
  /**
   * The newest result. Makes a new attempt when that is due, and at once when what it depends on is not the same any more.
   */
  look(dependsOn: unknown, attempt: () => Promise<void>): Promise<ProbeResult>;
}

/** Everything a phase sees of one reconcile. */
export interface Scope {
  readonly hostedControlPlane: HostedControlPlane;
  readonly clusterObject: ClusterObject;
  readonly cluster: HostedCluster;
  /** What the phases it needs have found out. */
  readonly facts: Facts;
  readonly reader: Reader;
  readonly sharedResources: SharedResources;
  readonly writer: Writer;
  /** A client of the hosted cluster, made from its own Secrets. */
  hosted(facts: Facts): HostedClient;
  readonly endpointProbe: EndpointProbe;
  /** Asks servers of single pods whom they trust and what they present. */
  readonly trustProbes: TrustProbes;
  /** Slow work, such as uploads, which no pass waits for. */
  readonly work: Work;
  /** Looks after etcd's members beside the passes. */
  readonly etcdLoop: EtcdLoop;
  /** What opening a store of backups asks for. */
  readonly storeReader: StoreReader;
  readonly now: Date;
}

/** What a deletion sees. It needs neither a valid spec nor a Cluster. */
export interface DeletionScope {
  /** Name of the Cluster whose control plane goes. */
  readonly cluster: string;
  readonly ownerUid: string | undefined;
  /** Whether etcd's volumes are to be kept. */
  readonly retainVolumes: boolean;
  /** Takes the last backup once nothing writes to etcd any more; tells what is still to be waited for. */
  readonly finalBackup: () => AwaitedFinalBackup | undefined;
  readonly reader: Reader;
  readonly writer: DeletionWriter;
}

/** One step of a reconcile. It runs when every phase it needs is done. */
export interface Phase {
  readonly condition: ConditionType;
  readonly needs: readonly Phase[];
  run(scope: Scope): Promise<Outcome>;
}

/** A fact that the phases before have established. @throws when they have not: a phase lacks one of its needs. */
export function known<Name extends keyof Facts>(facts: Facts, name: Name): NonNullable<Facts[Name]> {
  const value = facts[name];
  if (value === undefined || value === null) throw new Error(`the fact "${name}" is not known yet`);
  return value;
}
