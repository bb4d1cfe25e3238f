import type { LookupFunction } from 'node:net';
import { fieldManager } from '../../constructs/api/group.ts';
import { CertificateSigningRequest, EndpointSlice, Node, ServiceAccount } from '../../constructs/api/resources.ts';
import type { RenderedObject } from '../../constructs/control-plane/chart.ts';
import { type Endpoint, formatEndpoint } from '../../constructs/cluster/facts.ts';
import { reachesProxies } from '../../constructs/workload/in-cluster-access/kubernetes-service.ts';
import { ApplySet } from '../kube/apply-set.ts';
import type { KubernetesApi } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import type { ConnectionTarget } from '../kube/config.ts';
import { isConflict, isForbidden, isNotFound } from '../kube/errors.ts';
import { InformerSet } from '../kube/informer-set.ts';
import { describeObject, type KubeObject } from '../kube/object.ts';
import type { RequestRecord } from '../kube/request.ts';
import type { KeyPair } from '../pki/issue.ts';
import type { HostedClient, Identity } from './hosted-client.ts';
import { Administrator } from './administrator.ts';
import { approval, type CertificateRequest } from './certificate-request.ts';
import { firstServiceAccount, hostedInformers, rbacResources } from './informers.ts';
import type { NodeObject } from './node-object.ts';
import { HostedClusterNotReady } from './not-ready.ts';
import { Outage } from './outage.ts';
import { privilegedClient } from './privileged-client.ts';
import { dialApi, type OpenApi } from './open-api.ts';
import type { HostedTarget } from './target.ts';

export interface HostedClusterClientOptions {
  readonly clock: Clock;
  /** Something has changed that a reconcile may want to know of. */
  readonly onChange: () => void;
  /** Somebody has changed this object, and it was put right. */
  readonly onRevert: (what: string) => void;
  /** A watch was interrupted; it goes on by itself. */
  readonly onError: (error: unknown) => void;
  /** Hears every request to the hosted cluster. By default nobody does. */
  readonly onRequest?: ((record: RequestRecord) => void) | undefined;
  /** Resolves the host of the endpoint. By default the machine's resolver does. */
  readonly lookup?: LookupFunction | undefined;
  /** Opens a client of an API server. By default connections are dialled. */
  readonly open?: OpenApi | undefined;
}

/** A hosted API server answers at once or not at all; a worker slot is not to wait for the usual half minute. */
const deadlineMs = 5_000;

/** API servers learn of new rights by watching: for a moment they still refuse what has just been granted. */
const grantSettlingMs = 5_000;
const grantRecheckMs = 100;

/** An API server that is away is no news after the first time. */
const repeatReportMs = 10 * 60_000;

/** All there is of one hosted cluster, so that the apply set needs no other key. */
const owner = 'hosted';

/** One hosted cluster: what its watches tell, and what we write there. Connections are dialled on first use. */
export class HostedClusterClient implements HostedClient {
  readonly #target: HostedTarget;
  readonly #options: HostedClusterClientOptions;
  readonly #inside: KubernetesApi;
  readonly #outside: KubernetesApi;
  readonly #known: InformerSet;
  readonly #privileged: ReturnType<typeof privilegedClient>;
  readonly #administrator: Administrator;
  readonly #applySet: ApplySet;
  readonly #outage: Outage;
  #isWatching = false;
  #grantedAt = -Infinity;
  #reportedAt = -Infinity;

  constructor(target: HostedTarget, options: HostedClusterClientOptions) {
    const { clock } = options;
    this.#target = target;
    this.#options = options;
    this.#inside = this.#connect(target.service, target.controller, { serverName: target.serverName });
    this.#outside = this.#connect(target.endpoint, target.controller, { lookup: options.lookup });
    this.#known = new InformerSet(
      hostedInformers(target.applied, { client: this.#inside, clock, onError: (error) => this.#onWatchError(error) }),
    );
    this.#known.onChange((resource, { type }) => {
      // That they are there counts, not the status that nodes report for ever.
      const isThereOrNot = resource === Node || resource === EndpointSlice;
      // Kubernetes clears requests away that have been answered.
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
      onRevert: (live) => options.onRevert(describeObject(live)),
    });
    this.#outage = new Outage(clock);
  }

  async apply<T extends KubeObject>(objects: readonly RenderedObject[]): Promise<T[]> {
    const live = await this.#attempt(() => this.#applySet.apply(owner, objects));
    for (const object of live) this.#known.remember(object);
    return live as T[];
  }

  async prune(keep: readonly RenderedObject[]): Promise<void> {
    if (!this.#isWatching) return;
    const resources = new Set([...rbacResources, ...this.#target.applied.map(({ resource }) => resource)]);
    const inventory = [...resources].flatMap((resource) => this.#known.list(resource));
    await this.#attempt(() => this.#applySet.prune(owner, keep, inventory));
    if (!reachesProxies(keep)) await this.#attempt(() => this.#deleteSlices());
  }

  /** A Service that selects nothing keeps the endpoints it had, and those of proxies would go on taking connections. */
  async #deleteSlices(): Promise<void> {
    for (const { metadata } of this.#known.list(EndpointSlice)) {
      await this.#privileged.delete(EndpointSlice, metadata, { uid: metadata.uid });
    }
  }

  watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    // That there is nothing of a kind is news too, and comes as no event.
    void this.#known.start().then(() => this.#options.onChange());
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
    // With its uid, an apply to a Node that is gone is a conflict instead of a new Node.
    const patch = { apiVersion, kind, metadata: { name, uid, annotations } };
    const options = { fieldManager: `${fieldManager}-node`, force: true };
    try {
      // Who may note something on Nodes may also drain them: it is seldom enough to be no right of ours.
      const write = () => this.#administrator.use((client) => client.apply(patch, options));
      this.#known.remember(await this.#attempt(write));
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }

  certificateRequests(): readonly CertificateRequest[] | undefined {
    if (!this.#known.isSynced(CertificateSigningRequest)) return undefined;
    return this.#known.list(CertificateSigningRequest) as CertificateRequest[];
  }

  node(name: string): Promise<NodeObject | undefined> {
    return this.#attempt(() => this.#inside.find<NodeObject>(Node, { name }));
  }

  async approve(request: CertificateRequest, why: string): Promise<void> {
    try {
      const options = { fieldManager, force: true, subresource: 'approval' };
      this.#known.remember(await this.#attempt(() => this.#inside.apply(approval(request, why), options)));
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  controllersWork(): boolean {
    return this.#known.get(ServiceAccount, firstServiceAccount) !== undefined;
  }

  async readyThroughEndpoint(): Promise<void> {
    await this.#outside.raw('/readyz');
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

  /** Ends watches and connections. What was asked and is not answered yet fails. */
  async close(): Promise<void> {
    await this.#known.stop();
    await Promise.all([this.#inside.close(), this.#outside.close()]);
  }

  /** Does something that needs rights and an API server that answers. @throws HostedClusterNotReady when one is missing */
  async #attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#outage.guard(work);
    } catch (error) {
      if (!isForbidden(error)) throw error;
      if (this.#isSettling) {
        throw new HostedClusterNotReady('its rights have not reached the API server yet', grantRecheckMs, error);
      }
      this.#grantRetry();
      throw error;
    }
  }

  get #isSettling(): boolean {
    return this.#options.clock.now() - this.#grantedAt < grantSettlingMs;
  }

  /** Somebody took our rights away while nobody looked: what we know to have applied is not true any more. */
  #grantRetry(): void {
    this.#applySet.forget(owner);
    this.#options.onChange();
  }

  #onWatchError(error: unknown): void {
    const { clock, onError } = this.#options;
    if (isForbidden(error)) {
      if (!this.#isSettling) this.#grantRetry();
      return;
    }
    if (clock.now() - this.#reportedAt < repeatReportMs) return;
    this.#reportedAt = clock.now();
    onError(error);
  }

  #connect(address: Endpoint, client: KeyPair, how: Pick<ConnectionTarget, 'serverName' | 'lookup'>): KubernetesApi {
    const { onRequest, open = dialApi } = this.#options;
    const target: ConnectionTarget = {
      server: `https://${formatEndpoint(address)}`,
      ca: this.#target.ca,
      cert: client.certificate,
      key: client.key,
      ...how,
    };
    return open(target, { deadlineMs, ...(onRequest ? { onRequest } : {}) });
  }
}
