import type { CertificateSigningRequestObject, NodeObject } from '../../../imports/kubernetes.ts';
import type { FactsWith } from '../../../constructs/cluster/facts.ts';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import type { KubernetesApi } from '../../kube/client.ts';
import type { ApplyOptions } from '../management/view.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Rendered } from '../../kube/rendering.ts';
import type { NodeReport } from './node-reports.ts';

/** As whom a request is made: our own standing identity, or an administrator for this one work. */
export type Identity = 'controller' | 'administrator';

/**
 * The reconciler's access to a hosted cluster. Reads come from a cache that watches keep current. A change that a watch
 * reports triggers another reconcile.
 */
export interface HostedClient {
  /**
   * Server-side-applies the objects that have changed, and returns the live objects in the same order. It writes
   * objects that grant permissions as administrator, and all others with the operator's identity.
   * A refused one is as it was before, and is missing if it was not there.
   * @throws HostedClusterNotReady when the API server does not answer, or does not know the operator's permissions yet; and a
   * refusal, unless the options take it
   */
  apply<T extends KubeObject = KubeObject>(objects: Rendered<RenderedObject>, options?: ApplyOptions): Promise<T[]>;
  /**
   * Deletes objects that the operator has applied and that are not in `keep`.
   * @param keep all rendered objects
   * @throws HostedClusterNotReady when the API server does not answer
   */
  prune(keep: Rendered<RenderedObject>): Promise<void>;
  /**
   * Lists and watches from the first call on. What is only listed is listed again by a call ten seconds later or more. The operator's
   * permissions must exist.
   */
  watch(): void;
  /**
   * Whether it knows what is in the hosted cluster, as far as it may. It begins to watch, and a change follows when it does.
   * @throws HostedClusterNotReady when the API server does not answer
   */
  hasListed(): Promise<boolean>;
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
  /** Why the hosted cluster cannot be watched as a sentence: it sends more than the operator reads or holds. */
  watchProblem(): string | undefined;
  /** CertificateSigningRequests of nodes in all states; undefined until they have been listed. */
  certificateRequests(): readonly CertificateSigningRequestObject[] | undefined;
  /**
   * Reads a Node from the API server, because the cache contains no addresses. @throws HostedClusterNotReady when the
   * API server does not answer
   */
  node(name: string): Promise<NodeObject | undefined>;
  /**
   * When the kubelet of each Node has last reported, at most a few minutes old.
   * @throws HostedClusterNotReady when the API server does not answer
   */
  nodeReports(): Promise<readonly NodeReport[]>;
  /**
   * Approves exactly this request. A request that was deleted or denied meanwhile is ignored.
   * @param why reason, for readers of the request
   * @throws HostedClusterNotReady when the API server does not answer
   */
  approve(request: CertificateSigningRequestObject, why: string): Promise<void>;
  /**
   * Whether the controller manager has created the `default` service account, which shows that controllers work;
   * undefined until service accounts have been listed.
   */
  controllersWork(): boolean | undefined;
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
  /** A client of the hosted cluster, with the credentials from its Secrets. */
  hosted(facts: FactsWith<'endpoint'>): HostedClient;
}
