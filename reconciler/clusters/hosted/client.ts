import type { CertificateSigningRequestObject, NodeObject } from '../../../imports/kubernetes.ts';
import { fieldManager } from '../../../constructs/api/group.ts';
import {
  apiServerSlice,
  CertificateSigningRequest,
  ClusterRoleBinding,
  EndpointSlice,
  Node,
  ServiceAccount,
} from '../../../constructs/api/resources.ts';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import { isStaleSlice } from '../../../constructs/workload/in-cluster-access/kubernetes-service.ts';
import { ApplySet, type OnRefused } from '../../kube/apply-set.ts';
import type { KubernetesApi } from '../../kube/client.ts';
import {
  isConflict,
  isForbidden,
  isMissingRight,
  isNotFound,
  isReplaced,
  isTooLarge,
  kubeErrorOf,
} from '../../kube/errors.ts';
import { InformerSet } from '../../kube/informer-set.ts';
import { describeObject, identityOf, type KubeObject } from '../../kube/object.ts';
import type { Rendered } from '../../kube/rendering.ts';
import type { ApplyOptions } from '../management/view.ts';
import type { HostedClient, Identity } from './hosted-client.ts';
import { Administrator, privilegedClient } from './privileged-client.ts';
import { approval } from '../../pki/certificate-signing-request.ts';
import { firstServiceAccount, hostedInformers, rbacResources } from './informers.ts';
import { keptApplied, keptRequest, keptNode, keptReport } from './kept-objects.ts';
import { type NodeReport, NodeReports } from './node-reports.ts';
import { HostedClusterNotReady, Outage } from './outage.ts';
import { type HostedClusterClientOptions, type ConnectHosted, hostedConnector } from './connect.ts';
import type { HostedTarget } from './target.ts';

/** API servers read new permissions through watches, and may reject requests for a moment after a grant. */
const grantSettlingMs = 5_000;
const grantRecheckMs = 100;

/** Each failed check is a line. */
const longestReadiness = 64 * 1024;

/** A reconcile lists what is not watched again after this time. */
const relistMs = 10_000;

/** Minimum interval between reports of an unreachable API server. */
const repeatReportMs = 10 * 60_000;

/** Minimum interval between reconciles for watches that are given up because they send too much. */
const repeatProblemMs = 60_000;

/** The key of the apply set, which is the same for all objects of one hosted cluster. */
const owner = 'hosted';

/** The client of one hosted cluster: its watches and writes. It connects with the first request. */
export class HostedClusterClient implements HostedClient {
  readonly #target: HostedTarget;
  readonly #options: HostedClusterClientOptions;
  readonly #connect: ConnectHosted;
  readonly #inside: KubernetesApi;
  readonly #known: InformerSet;
  readonly #privileged: ReturnType<typeof privilegedClient>;
  readonly #administrator: Administrator;
  readonly #applySet: ApplySet;
  readonly #outage: Outage;
  readonly #nodeReports: NodeReports;
  #isWatching = false;
  /** A list or watch has failed since it began to watch. */
  #hasFailed = false;
  #listedAt = -Infinity;
  #grantedAt = -Infinity;
  #reportedAt = -Infinity;
  #problemAt = -Infinity;

  constructor(target: HostedTarget, options: HostedClusterClientOptions) {
    const { clock } = options;
    this.#target = target;
    this.#options = options;
    this.#connect = hostedConnector(target, options);
    this.#inside = this.#connect(target.service, target.controller, { serverName: target.serverName });
    this.#known = new InformerSet(
      hostedInformers(target.applied, {
        client: this.#inside,
        clock,
        room: options.room.held,
        onError: (error) => this.#onWatchError(error),
        onRestored: () => this.#forgetVersions(),
        onResumed: () => this.#listAgain(),
      }),
    );
    this.#known.onChange((resource, { type, object }) => {
      // Only their existence matters, not the status that nodes report continuously.
      const isOfProxies = resource === EndpointSlice && object.metadata.name !== apiServerSlice;
      const isThereOrNot = resource === Node || isOfProxies;
      // Kubernetes deletes completed requests.
      const isCleanUp = resource === CertificateSigningRequest && type === 'deleted';
      if (!isCleanUp && (!isThereOrNot || type !== 'updated')) options.onChange();
    });
    this.#administrator = new Administrator(async () =>
      this.#connect(target.service, await target.admin(new Date(clock.now())), { serverName: target.serverName }),
    );
    this.#privileged = privilegedClient(this.#inside, this.#administrator, () => (this.#grantedAt = clock.now()));
    this.#applySet = new ApplySet({
      client: this.#privileged,
      fieldManager,
      lookup: (resource, name) => this.#known.get(resource, name),
      clock,
      keep: keptApplied,
      onRevert: (live) => options.onRevert(describeObject(live)),
    });
    this.#outage = new Outage(clock);
    this.#nodeReports = new NodeReports(() => this.#nodesWithReport(), clock);
  }

  async apply<T extends KubeObject>(
    objects: Rendered<RenderedObject>,
    { onRefused, only }: ApplyOptions = {},
  ): Promise<T[]> {
    const take: OnRefused = (object, error) => {
      // A right that was taken away is granted again.
      if (isMissingRight(error)) throw error;
      onRefused?.(object, error);
    };
    const live = await this.#attempt(() =>
      this.#applySet.apply(owner, objects, { onRefused: onRefused === undefined ? undefined : take, only }),
    );
    for (const object of live) this.#known.remember(object);
    return live as T[];
  }

  async prune(keep: Parameters<HostedClient['prune']>[0]): Promise<void> {
    if (!this.#isWatching) return;
    if ((await this.#pruned(keep)) > 0) this.#known.refresh();
  }

  watch(): void {
    const now = this.#options.clock.elapsed();
    if (this.#isWatching && now - this.#listedAt < (this.#options.relistMs ?? relistMs)) return;
    this.#listedAt = now;
    if (this.#isWatching) return this.#known.refresh();
    this.#isWatching = true;
    // An empty list of a kind matters too, but produces no event.
    void this.#known.start().then(() => this.#options.onChange());
  }

  async hasListed(): Promise<boolean> {
    if (!this.#isWatching) {
      try {
        // One request, where its watches would make one each of an API server that does not answer.
        await this.#attempt(() => this.#inside.currentVersion(ClusterRoleBinding, {}));
      } catch (error) {
        if (isForbidden(error)) return true;
        throw error;
      }
      this.watch();
    }
    return !this.#isListing;
  }

  nodes(): number | undefined {
    return this.#known.isSynced(Node) ? this.#known.list(Node).length : undefined;
  }

  nodeMetadata(): readonly KubeObject[] | undefined {
    return this.#known.isSynced(Node) ? this.#known.list(Node) : undefined;
  }

  async annotateNode(
    { metadata: { name, uid } }: KubeObject,
    annotations: Readonly<Record<string, string>>,
  ): Promise<void> {
    const { apiVersion, kind } = Node;
    // With the UID, an apply to a deleted Node is a conflict instead of a new Node, and one to a recreated Node is
    // refused.
    const patch = { apiVersion, kind, metadata: { name, uid, annotations } };
    const options = { fieldManager: `${fieldManager}-node`, force: true };
    try {
      // Permission to annotate Nodes also allows cordoning them. The operator annotates rarely, so it does that as
      // administrator.
      const write = () => this.#administrator.use((client) => client.apply(patch, options));
      this.#remember(keptNode(await this.#attempt(write)), patch);
    } catch (error) {
      if (!isConflict(error) && !isReplaced(error)) throw error;
    }
  }

  watchProblem(): string | undefined {
    return this.#known.problem?.message;
  }

  certificateRequests(): readonly CertificateSigningRequestObject[] | undefined {
    if (!this.#known.isSynced(CertificateSigningRequest)) return undefined;
    return this.#known.list(CertificateSigningRequest);
  }

  node(name: string): Promise<NodeObject | undefined> {
    return this.#attempt(() => this.#inside.find<NodeObject>(Node, { name }));
  }

  nodeReports(): Promise<readonly NodeReport[]> {
    return this.#nodeReports.all();
  }

  async approve(request: CertificateSigningRequestObject, why: string): Promise<void> {
    try {
      const options = { fieldManager, force: true, subresource: 'approval' };
      const answer = await this.#attempt(() => this.#inside.apply(approval(request, why), options));
      this.#remember(keptRequest(answer), request);
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error) && !isReplaced(error)) throw error;
    }
  }

  controllersWork(): boolean | undefined {
    if (!this.#known.isSynced(ServiceAccount)) return undefined;
    return this.#known.get(ServiceAccount, firstServiceAccount) !== undefined;
  }

  /**
   * On a connection of its own, as a worker that joins has one. If it stayed open until the next time, many minutes later, it
   * would cost a fifth of the memory of a control plane, and pings.
   */
  async readyThroughEndpoint(): Promise<void> {
    const { endpoint, controller } = this.#target;
    const guard = this.#options.destinations?.guard('endpoint');
    guard?.admit(endpoint.host, endpoint.port);
    const client = this.#connect(endpoint, controller, { lookup: guard?.lookup(endpoint.port) });
    try {
      await client.raw('/readyz', { longestBytes: longestReadiness });
    } catch (error) {
      // An answer is that of its own API server, by its certificate.
      throw guard && !kubeErrorOf(error)?.code ? guard.reportable(error) : error;
    } finally {
      await client.close();
    }
  }

  asAdministrator<T>(work: (client: KubernetesApi) => Promise<T>): Promise<T> {
    return this.#administrator.use(work);
  }

  async at<T>(host: string, identity: Identity, work: (client: KubernetesApi) => Promise<T>): Promise<T> {
    const { podPort, controller, admin, serverName } = this.#target;
    const pair = identity === 'controller' ? controller : await admin(new Date(this.#options.clock.now()));
    const client = this.#connect({ host, port: podPort }, pair, { serverName });
    try {
      return await work(client);
    } finally {
      await client.close();
    }
  }

  /** Ends watches and connections. Pending requests fail. */
  async close(): Promise<void> {
    await this.#known.stop();
    await this.#inside.close();
    this.#options.room.held.close();
  }

  /** Returns the number of deleted objects. */
  async #pruned(keep: Parameters<HostedClient['prune']>[0]): Promise<number> {
    const resources = new Set([...rbacResources, ...this.#target.applied.map(({ resource }) => resource)]);
    const inventory = [...resources].flatMap((resource) => this.#known.list(resource));
    const pruned = await this.#attempt(() => this.#applySet.prune(owner, keep, inventory));
    const names = this.#applySet.names(owner, keep);
    const stale = this.#known.list(EndpointSlice).filter(({ metadata }) => isStaleSlice(metadata.name, names));
    for (const { metadata } of stale) {
      await this.#attempt(() => this.#privileged.delete(EndpointSlice, metadata, { uid: metadata.uid }));
    }
    return pruned.length + stale.length;
  }

  /** An answer about another object than the one that was sent is worth nothing. */
  #remember(kept: KubeObject, sent: KubeObject): void {
    if (identityOf(kept) === identityOf(sent)) this.#known.remember(kept);
  }

  async #nodesWithReport(): Promise<readonly NodeObject[]> {
    const { held } = this.#options.room;
    const holder = {};
    const keeper = () => (node: NodeObject) => {
      const kept = keptReport(node);
      held.add(holder, kept);
      return kept;
    };
    try {
      return (await this.#attempt(() => this.#inside.list<NodeObject>(Node, { keeper }))).items;
    } finally {
      held.clear(holder);
    }
  }

  /**
   * Runs work that needs permissions and an API server that answers. @throws HostedClusterNotReady when one is missing
   */
  async #attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#outage.guard(work);
    } catch (error) {
      if (!isForbidden(error)) throw error;
      if (this.#isSettling) {
        throw new HostedClusterNotReady(
          'the API server does not know the permissions of the operator yet',
          grantRecheckMs,
          error,
        );
      }
      this.#grantRetry();
      throw error;
    }
  }

  /** It has begun to list, and neither has all nor has failed. */
  get #isListing(): boolean {
    return this.#isWatching && !this.#known.areSynced && !this.#hasFailed;
  }

  get #isSettling(): boolean {
    return this.#options.clock.now() - this.#grantedAt < grantSettlingMs;
  }

  /**
   * The operator's permissions were removed while it did not watch, so its record of applied objects is not valid any
   * more.
   */
  #grantRetry(): void {
    this.#applySet.forgetAll();
    this.#options.onChange();
  }

  /** Whatever ended the watches may have changed what is only listed, or led it back. */
  #listAgain(): void {
    this.#listedAt = -Infinity;
    this.#options.onChange();
  }

  /** etcd was restored by others, without raising its revisions as a restore of the operator does. */
  #forgetVersions(): void {
    this.#known.forgetWritten();
    this.#applySet.forgetAll();
    this.#options.onChange();
  }

  /** Each of its watches may have it, again and again: a reconcile now and then says it. */
  #noteProblem(): void {
    const now = this.#options.clock.now();
    if (now - this.#problemAt < repeatProblemMs) return;
    this.#problemAt = now;
    this.#options.onChange();
  }

  #onWatchError(error: unknown): void {
    const { clock, onError, onChange } = this.#options;
    const isAwaited = this.#isListing;
    this.#hasFailed = true;
    if (isForbidden(error)) {
      if (!this.#isSettling) this.#grantRetry();
      return;
    }
    if (isTooLarge(error)) this.#noteProblem();
    else if (isAwaited) onChange();
    if (clock.now() - this.#reportedAt < repeatReportMs) return;
    this.#reportedAt = clock.now();
    onError(error);
  }
}
