import type { Server } from 'node:http';
import { type Config, readConfig } from './config.ts';
import { connectedOperator } from './connected-operator.ts';
import { Heap } from './heap.ts';
import { type Health, serveHealth, serveMetrics, serveMetricsSecurely } from './http-servers.ts';
import { systemClock } from '../kube/clock.ts';
import { KubeClient } from '../kube/client.ts';
import { messageOf } from '../kube/error-message.ts';
import { openNotes } from '../reconcile/quarantine/notes.ts';
import { Quarantine } from '../reconcile/quarantine/quarantine.ts';
import { startSecondProcess } from '../reconcile/quarantine/second-process.ts';
import { watchLoop } from '../reconcile/quarantine/watch-loop.ts';
import type { Operator, OperatorOptions } from './operator.ts';
import type { BackOff } from '../kube/back-off.ts';
import { createLogger, type Logger } from '../engine/log.ts';
import { ScrapeAccess } from './telemetry/scrape-access.ts';
import { startTracing } from './telemetry/start-tracing.ts';

/**
 * Small buffers are cut from one of this size in bytes, which stays as long as any of them does: each TLS connection keeps one of
 * some bytes. Node's default of 64 KiB is for programs with a few connections.
 */
const bufferPoolBytes = 4096;

/** What a test replaces. */
interface ProgramOptions extends Pick<OperatorOptions, 'reach'> {
  /** How long the event loop may stand still. */
  readonly stillMs?: number | undefined;
  readonly retryDelays?: BackOff | undefined;
  readonly secondProcessMs?: number | undefined;
}

/** The process: configuration in, operator until a signal, hand over, exit. */
export async function runProgram(options: ProgramOptions = {}): Promise<void> {
  try {
    Buffer.poolSize = bufferPoolBytes;
    const config = readConfig(process.argv.slice(2), process.env);
    const log = createLogger({ format: config.logFormat, level: config.logLevel });
    if (config.notes !== undefined && process.pid === 1)
      log.warn(
        'nothing but a failed liveness probe ends this process when it stands still, because it is process 1 of its namespace: set shareProcessNamespace: true in its pod',
      );
    if (config.notes !== undefined || config.only !== undefined)
      await watchLoop(
        (error) => log.error({ error }, 'nothing ends this process when it stands still'),
        options.stillMs,
      );
    await (config.only === undefined ? lead(config, log, options) : tryOne(config, config.only, log, options));
  } catch (error) {
    console.error(messageOf(error));
    process.exit(1);
  }
}

async function lead(given: Config, log: Logger, options: ProgramOptions): Promise<void> {
  const tracing =
    given.tracesEndpoint && (await startTracing(given.tracesEndpoint, warnHourly(log, 'traces are not sent')));
  const quarantine = given.notes === undefined ? undefined : quarantineIn(given.notes, log, options);
  let operator: Operator | undefined;
  const servers = [
    await serveHealth(
      given.healthPort,
      healthOf(() => operator, log),
    ),
  ];

  onSignal(async (signal) => {
    log.info({ signal }, 'stopping');
    for (const server of servers) server.close();
    await quarantine?.close();
    await operator?.stop();
    if (tracing) await tracing.stop();
    process.exit(0);
  });

  operator = await connectedOperator(given, {
    reach: options.reach,
    quarantine,
    log,
    heap: new Heap(given.optimizeFor),
    onLeadershipLost: () => {
      log.error('leadership lost, exiting');
      void quarantine?.close();
      process.exit(1);
    },
  });
  const { metricsPort } = given;
  if (metricsPort > 0) servers.push(await serveMetrics(metricsPort, operator.metrics));
  const secureMetrics = await serveSecurely(given, operator, log);
  if (secureMetrics) servers.push(secureMetrics);

  await operator.start();
}

/** The second process of a control plane in quarantine, which the leading process starts. */
async function tryOne(
  given: Config,
  { namespace, name }: NonNullable<Config['only']>,
  parent: Logger,
  { reach }: ProgramOptions,
): Promise<void> {
  const log = parent.child({ secondProcessOf: `${namespace}/${name}` });
  // The one that leads has ended, and another one may begin.
  process.once('disconnect', () => process.exit(1));
  const operator = await connectedOperator(
    { ...given, leaderElection: false },
    { reach, log, onLeadershipLost: () => {}, onReconciled: (result) => void process.send?.(result) },
  );
  onSignal(async () => {
    await operator.stop();
    process.exit(0);
  });
  await operator.start();
}

function onSignal(stop: (signal: NodeJS.Signals) => Promise<void>): void {
  process.once('SIGTERM', (signal) => void stop(signal));
  process.once('SIGINT', (signal) => void stop(signal));
}

function quarantineIn(
  directory: string,
  log: Logger,
  { retryDelays: delays, secondProcessMs }: ProgramOptions,
): Quarantine {
  return new Quarantine({
    ...openNotes(directory),
    clock: systemClock,
    log,
    startSecondProcess: (key, cluster) => startSecondProcess(key, cluster, secondProcessMs),
    delays,
  });
}

/** Before there is an operator, the process waits for the API server: it lives, and is not ready. */
function healthOf(operator: () => Operator | undefined, log: Logger): Health {
  return {
    get whyDead() {
      const reason = operator()?.whyDead;
      if (reason !== undefined)
        log.error({ reason }, 'this instance does not work any more, and has to be started again');
      return reason;
    },
    get isReady() {
      return operator()?.isReady ?? false;
    },
  };
}

async function serveSecurely(
  { secureMetricsPort }: Config,
  { metrics, connection }: Operator,
  log: Logger,
): Promise<Server | undefined> {
  if (secureMetricsPort === 0) return undefined;
  const warn = warnHourly(log, 'the API server does not decide who may read the metrics');
  const onError = (error: unknown) => warn(messageOf(error));
  const access = new ScrapeAccess(new KubeClient(connection), systemClock, onError);
  return serveMetricsSecurely(secureMetricsPort, metrics, access);
}

/** Reports at most hourly what would repeat while a collector or the API server is unreachable. */
function warnHourly(log: Logger, what: string): (message: string) => void {
  let reportedAt = -Infinity;
  return (message) => {
    if (performance.now() - reportedAt < hourMs) return;
    reportedAt = performance.now();
    log.warn({ message }, `${what}; the operator does not report this again for an hour`);
  };
}

const hourMs = 60 * 60_000;
