import type { LookupFunction } from 'node:net';
import { managerImage } from '../../constructs/provider/image.ts';
import type { Config } from '../../reconciler/operator/config.ts';
import { systemClock } from '../../reconciler/kube/clock.ts';
import { connect, type Connection, loadKubeConfig } from '../../reconciler/kube/config.ts';
import type { RequestRecord } from '../../reconciler/kube/request.ts';
import { Operator } from '../../reconciler/operator/operator.ts';
import { createLogger } from '../../reconciler/telemetry/log.ts';

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
  /** Path of the management cluster's kubeconfig. */
  readonly kubeconfig: string;
  /** All namespaces when unset. */
  readonly namespace?: string;
  /** Reconciles only objects whose label has this value. By default all. */
  readonly watchFilter?: string;
  /** Wraps the connection, to cut it at an exact moment. */
  readonly through?: ((connection: Connection) => Connection) | undefined;
  /** Resolves the hosts of endpoints. By default this machine's resolver does. */
  readonly lookup?: LookupFunction | undefined;
  /** The newest release revision that it adopts. By default that of this operator. */
  readonly newestRevision?: number | undefined;
}

/** Starts an operator and resolves when it is ready. `HCP_TEST_LOG=debug` prints its log. */
export async function startOperator({
  kubeconfig,
  namespace,
  watchFilter,
  through,
  lookup,
  newestRevision,
}: TestOperatorOptions): Promise<TestOperator> {
  const requests: RequestRecord[] = [];
  const hostedRequests: RequestRecord[] = [];
  const connection = await connect(loadKubeConfig(kubeconfig));
  const config: Config = {
    leaderElection: false,
    maxConcurrentReconciles: 4,
    adoptionConcurrency: 1,
    controllerNamespace: undefined,
    podName: undefined,
    operatorImage: managerImage,
    deniedCidrs: [],
    managementIssuer: undefined,
    tracesEndpoint: undefined,
    optimizeFor: 'size',
    logFormat: 'text',
    logLevel: 'info',
    namespace,
    watchFilter,
    healthPort: 0,
    metricsPort: 0,
    secureMetricsPort: 0,
  };
  const level = process.env['HCP_TEST_LOG'] === 'debug' ? 'debug' : 'error';
  const operator = new Operator({
    connection: through ? through(connection) : connection,
    config,
    clock: systemClock,
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
