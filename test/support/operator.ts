import type { LookupFunction } from 'node:net';
import type { Dispatcher } from 'undici';
import { defaultPlatformLists } from '../../constructs/cluster/platform-lists.ts';
import { managerImage } from '../../constructs/provider/image.ts';
import type { Config } from '../../reconciler/operator/config.ts';
import { type Clock, systemClock } from '../../reconciler/kube/clock.ts';
import type { RequestRecord } from '../../reconciler/kube/request.ts';
import { Operator } from '../../reconciler/operator/operator.ts';
import { createLogger } from '../../reconciler/engine/log.ts';
import { interceptedBy } from './cut-connection.ts';
import type { ShippedRights } from './shipped-rights.ts';

/** An operator in this process, with the settings of a test. */
export interface TestOperator {
  readonly operator: Operator;
  /** Every request it has sent to the management cluster. */
  readonly requests: readonly RequestRecord[];
  /** Every request it has sent to hosted clusters. */
  readonly hostedRequests: readonly RequestRecord[];
  stop(): Promise<void>;
}

export interface TestOperatorOptions {
  /** The rights that it has, which also say which namespaces it looks after. */
  readonly rights: ShippedRights;
  /** Reconciles only objects whose label has this value. By default all. */
  readonly watchFilter?: string;
  /** Sees every request of its connection, to cut it at an exact moment. */
  readonly through?: Dispatcher.DispatcherComposeInterceptor | undefined;
  /** Resolves the hosts of endpoints. By default this machine's resolver does. */
  readonly lookup?: LookupFunction | undefined;
  /** The newest release revision that it adopts. By default that of this operator. */
  readonly newestRevision?: number | undefined;
  /** Its clock. By default that of this machine. */
  readonly clock?: Clock | undefined;
}

/** Starts an operator and resolves when it is ready. `HCP_TEST_LOG=debug` prints its log. */
export async function startOperator({
  rights,
  watchFilter,
  through,
  lookup,
  newestRevision,
  clock = systemClock,
}: TestOperatorOptions): Promise<TestOperator> {
  const requests: RequestRecord[] = [];
  const hostedRequests: RequestRecord[] = [];
  const connection = await rights.connect();
  const config: Config = {
    leaderElection: false,
    maxConcurrentReconciles: 4,
    adoptionConcurrency: 1,
    controllerNamespace: undefined,
    podName: undefined,
    operatorImage: managerImage,
    deniedCidrs: [],
    // Testbeds are on this machine.
    allowedDestinations: ['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '::1/128', 'fc00::/7'],
    platformLists: defaultPlatformLists,
    clusterIssuers: ['*/ClusterIssuer/platform'],
    managementIssuer: undefined,
    tracesEndpoint: undefined,
    optimizeFor: 'size',
    logFormat: 'text',
    logLevel: 'info',
    namespace: rights.watchNamespace,
    watchFilter,
    notes: undefined,
    only: undefined,
    healthPort: 0,
    metricsPort: 0,
    secureMetricsPort: 0,
  };
  const level = process.env['HCP_TEST_LOG'] === 'debug' ? 'debug' : 'error';
  const operator = new Operator({
    connection: through ? interceptedBy(through, connection) : connection,
    config,
    clock,
    log: createLogger({ format: 'text', level }),
    lookup,
    newestRevision,
    onLeadershipLost: () => {},
    onRequest: (record) => requests.push(record),
    onHostedRequest: (record) => hostedRequests.push(record),
  });
  await operator.start();
  return { operator, requests, hostedRequests, stop: () => operator.stop() };
}
