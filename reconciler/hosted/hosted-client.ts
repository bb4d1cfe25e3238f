import type { FactsWith } from '../../constructs/cluster/facts.ts';
import type { RenderedObject } from '../../constructs/control-plane/chart.ts';
import type { KubeObject } from '../kube/object.ts';
import type { WorkContext } from '../tasks/background-work.ts';
import type { CertificateRequest } from './certificate-request.ts';
import type { NodeObject } from './node-object.ts';
import type { PublishedTrust, ServerTrust } from './published-trust.ts';
import type { StoredToken } from './service-account-tokens.ts';

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

/** How to get at the hosted cluster: its endpoint has to be known. */
export interface HostedAccess {
  readonly facts: FactsWith<'endpoint'>;
  /** A client of the hosted cluster, made from its own Secrets. */
  hosted(facts: FactsWith<'endpoint'>): HostedClient;
}
