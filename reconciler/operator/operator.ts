import type { LookupFunction } from 'node:net';
import { hostname } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { group } from '../../constructs/api/group.ts';
import { HostedControlPlane } from '../../constructs/api/resources.ts';
import type { ClusterDns } from '../../constructs/cluster/facts.ts';
import type { Config } from './config.ts';
import type { Heap } from './heap.ts';
import { Controller } from './controller.ts';
import { reportDenied } from './report-denied.ts';
import { handOver } from './hand-over.ts';
import { whyDead } from './liveness.ts';
import { KubeClient, type KubernetesApi } from '../kube/client.ts';
import type { KubeClientOptions } from '../kube/client-options.ts';
import type { RequestRecord } from '../kube/request.ts';
import type { Clock } from '../kube/clock.ts';
import { ComparedClock } from '../kube/compared-clock.ts';
import type { Connection } from '../kube/config.ts';
import { EventRecorder } from '../kube/events.ts';
import { LeaderElection, type LeaderElectionOptions } from '../kube/lease.ts';
import { ManagementCluster } from '../clusters/management/cache.ts';
import { Destinations } from '../clusters/network/destinations.ts';
import { objectKey } from '../kube/object.ts';
import { Reconciler } from '../reconcile/reconciler.ts';
import type { ReconcilerOptions } from '../reconcile/reconciler-options.ts';
import { Signer } from '../signer/signer.ts';
import { StatusWriter } from '../reconcile/status/writer.ts';
import type { Logger } from '../engine/log.ts';
import { Metrics } from './telemetry/metrics.ts';
import { reportTransition } from '../reconcile/status/transition.ts';

export interface OperatorOptions extends Pick<
  ReconcilerOptions,
  'reach' | 'quarantine' | 'managementIssuer' | 'newestRevision' | 'clock'
> {
  readonly connection: Connection;
  /** Makes the client of the management cluster. By default over the connection. */
  readonly open?: (connection: Connection, options: KubeClientOptions) => KubernetesApi;
  readonly config: Config;
  /** Is fitted to the number of control planes. By default it stays as the process was started. */
  readonly heap?: Heap | undefined;
  /** Where the DNS of the management cluster answers; unknown outside of a cluster. */
  readonly dns?: ClusterDns | undefined;
  /** Unique per process, for leader election. By default the host name and the number of the process. */
  readonly identity?: string;
  readonly log: Logger;
  /** Called when leadership is lost. The process must end, because another instance may already write. */
  readonly onLeadershipLost: () => void;
  /** Called after every reconcile. */
  readonly onReconciled?: ((result: 'success' | 'error') => void) | undefined;
  /** Called for every request to the management cluster. */
  readonly onRequest?: (record: RequestRecord) => void;
  /** Resolves the host names of endpoints. By default with the resolver of the machine. */
  readonly lookup?: LookupFunction | undefined;
  /** Called for every request to a hosted cluster. */
  readonly onHostedRequest?: (record: RequestRecord) => void;
}

/** The operator: watches, leader election, controller, signer. One per process; tests run it in their own process. */
export class Operator {
  /** Metrics for Prometheus. */
  readonly metrics: Metrics;
  /** That of the management cluster. */
  readonly connection: Connection;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #client: KubernetesApi;
  readonly #management: ManagementCluster;
  readonly #events: EventRecorder;
  readonly #reconciler: Reconciler;
  readonly #controller: Controller;
  readonly #signer: Signer;
  readonly #answersRequests: boolean;
  readonly #election: LeaderElection | undefined;
  #isSynced = false;

  constructor({
    connection,
    open = (to, options) => new KubeClient(to, options),
    reach,
    config,
    quarantine,
    heap,
    dns,
    managementIssuer,
    identity = `${hostname()}_${process.pid}`,
    clock: machine,
    log,
    onLeadershipLost,
    onReconciled,
    onRequest,
    onHostedRequest,
    lookup,
    newestRevision,
  }: OperatorOptions) {
    this.#log = log;
    this.connection = connection;
    const clock = new ComparedClock(machine, (fault) => this.#clockChanged(fault));
    this.#clock = clock;
    this.metrics = new Metrics({
      hostedControlPlanes: () => this.#management.list(HostedControlPlane),
      queueDepth: () => this.#controller.queueDepth,
      runningWork: () => this.#reconciler.runningWork,
      clockOffsetMs: () => clock.offsetMs,
    });
    const client = open(connection, {
      onRequest: (record) => {
        this.metrics.requested('management', record);
        onRequest?.(record);
      },
      onAnswer: (answer) => clock.take(answer),
      clock,
    });
    this.#client = client;
    const onError = (error: unknown) => log.warn({ error }, 'watch interrupted, resuming');
    const { namespace, watchFilter, only } = config;
    this.#management = new ManagementCluster({
      client,
      clock,
      namespace,
      watchFilter,
      only,
      denied: config.deniedCidrs,
      heapBytes: getHeapStatistics().heap_size_limit,
      onError,
    });
    if (heap)
      this.#management.onChange((resource) => {
        if (resource === HostedControlPlane) heap.fit(() => this.#management.list(HostedControlPlane).length);
      });
    this.#events = new EventRecorder({
      client,
      clock,
      reportingController: `${group}/hosted-control-plane-controller`,
      reportingInstance: hostname(),
      onError: (error) => log.debug({ error }, 'event not recorded'),
    });
    const statusWriter = new StatusWriter({
      client,
      management: this.#management,
      clock,
      onTransition: (transition) => reportTransition(transition, log, this.#events),
    });
    this.#reconciler = new Reconciler({
      client,
      management: this.#management,
      statusWriter,
      clock,
      events: this.#events,
      reach,
      quarantine,
      isSecondProcess: only !== undefined,
      onWatchError: onError,
      operatorNamespace: config.controllerNamespace,
      operatorImage: config.operatorImage,
      managementNetwork: { denied: config.deniedCidrs, dns },
      managementIssuer,
      platformLists: config.platformLists,
      clusterIssuers: config.clusterIssuers,
      newestRevision,
      adoptionConcurrency: config.adoptionConcurrency,
      destinations: new Destinations({
        denied: config.deniedCidrs,
        inside: () => this.#management.deniedNetworks,
        apiServers: () => [addressOf(connection), ...this.#management.apiServers],
        allowed: config.allowedDestinations,
        lookup,
      }),
      onHostedRequest: (record) => {
        this.metrics.requested('hosted', record);
        onHostedRequest?.(record);
      },
      onHostedError: (key, error) =>
        log.info({ hostedControlPlane: key, error }, 'watch of the hosted cluster interrupted, resuming'),
    });
    this.#controller = new Controller({
      management: this.#management,
      reconciler: this.#reconciler,
      concurrency: config.maxConcurrentReconciles,
      only: only && objectKey(only),
      clock,
      log,
      onReconciled: (result, ms) => {
        this.metrics.reconciled(result, ms);
        onReconciled?.(result);
      },
    });
    this.#signer = new Signer({
      client,
      clock,
      log,
      events: this.#events,
      management: this.#management,
      answersFor: (of) => watchFilter === undefined && (namespace === undefined || namespace === of),
    });
    this.#answersRequests = only === undefined;
    this.#election = config.leaderElection
      ? this.#elect(config, connection, { identity, onLost: onLeadershipLost })
      : undefined;
  }

  /** Resolves when all caches are filled. Reconciles start then, or when this instance is elected. */
  async start(): Promise<void> {
    this.#log.info('watching the management cluster');
    reportDenied(this.#log, await this.#management.start());
    this.#isSynced = true;
    if (this.#election) this.#election.start();
    else this.#lead();
  }

  /** Ends all work, then releases leadership, and closes all connections. */
  async stop(): Promise<void> {
    await handOver({
      controller: this.#controller,
      signer: this.#signer,
      reconciler: this.#reconciler,
      events: this.#events,
      election: this.#election,
    });
    await this.#management.stop();
    await this.#client.close();
  }

  /** True once all caches are filled, so that this instance can lead. */
  get isReady(): boolean {
    return this.#isSynced;
  }

  /** Why this instance does not do its work any more, although its caches were filled; undefined while it does. */
  get whyDead(): string | undefined {
    if (!this.#isSynced) return undefined;
    const elapsed = this.#clock.elapsed();
    const { activeAt, movedAt } = this.#management;
    const { undoneMs, stillest } = this.#controller;
    return whyDead({ silentMs: elapsed - activeAt, stuckMs: elapsed - movedAt, undoneMs, stillest });
  }

  #elect(
    config: Config,
    connection: Connection,
    candidate: Pick<LeaderElectionOptions, 'identity' | 'onLost'>,
  ): LeaderElection {
    const namespace = config.controllerNamespace ?? connection.namespace;
    if (!namespace) {
      throw new Error('leader election needs a namespace: set CONTROLLER_NAMESPACE, or LEADER_ELECTION=false');
    }
    return new LeaderElection({
      client: this.#client,
      name: leaseName(config),
      namespace,
      ...candidate,
      clock: this.#clock,
      times: leaseTimes,
      onAcquired: () => this.#lead(),
      onError: (error) => this.#log.warn({ error }, 'leader election failed, retrying'),
    });
  }

  #clockChanged(fault: string | undefined): void {
    if (fault === undefined) this.#log.info('the clocks of the node and of the management API server agree again');
    else this.#log.error({ fault }, 'nothing is issued, deleted or scheduled by time until the clocks agree');
    this.#controller.reconcileAll();
  }

  #lead(): void {
    const count = this.#management.list(HostedControlPlane).length;
    this.#log.info({ hostedControlPlanes: count }, 'leading');
    this.#controller.start();
    // Without permission for its requests it retries, and no control plane waits for it.
    if (this.#answersRequests) void this.#signer.start();
  }
}

/** At which address this process reaches the management API server; it may be a name. */
function addressOf({ baseUrl }: Connection): { readonly address: string; readonly port: number } {
  const { hostname: host, port } = new URL(baseUrl);
  return { address: host.replace(/^\[|\]$/g, ''), port: port === '' ? 443 : Number(port) };
}

/**
 * Longer than those of Kubernetes' own components. A stopped instance releases the lease immediately; only after a
 * crash it takes 30 s.
 */
const leaseTimes = { durationMs: 30_000, renewDeadlineMs: 20_000, retryMs: 5_000 };

/** Instances that manage different objects do not compete. */
function leaseName({ namespace, watchFilter }: Config): string {
  return [group, namespace, watchFilter].filter((part) => part !== undefined).join('.');
}
