import type { FactsWith } from '../../constructs/cluster/facts.ts';
import type { RenderedObject } from '../../constructs/control-plane/chart.ts';
import type { KubernetesApi } from '../kube/client.ts';
import type { KubeObject } from '../kube/object.ts';
import type { CertificateRequest } from './certificate-request.ts';
import type { NodeObject } from './node-object.ts';

/** As whom a request is made: our own standing identity, or an administrator for this one work. */
export type Identity = 'controller' | 'administrator';

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
   * Works as an administrator of the hosted cluster, who exists only as long as the work. For features that need a
   * right of their own, seldom, and no standing one.
   */
  asAdministrator<T>(work: (client: KubernetesApi) => Promise<T>): Promise<T>;
  /**
   * Works with the API server of one pod, past its Service.
   * @param address IP address of the pod
   * @throws when it does not answer
   */
  at<T>(address: string, identity: Identity, work: (client: KubernetesApi) => Promise<T>): Promise<T>;
  /** The answer of `/readyz` through the published endpoint. @throws when it cannot be reached or is not ready. */
  readyThroughEndpoint(): Promise<void>;
}

/** How to get at the hosted cluster: its endpoint has to be known. */
export interface HostedAccess {
  readonly facts: FactsWith<'endpoint'>;
  /** A client of the hosted cluster, made from its own Secrets. */
  hosted(facts: FactsWith<'endpoint'>): HostedClient;
}
