import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import type { ClusterDns } from '../../constructs/cluster/facts.ts';
import type { ManagementIssuer } from '../../constructs/cluster/management-issuer.ts';
import { clusterDns } from './cluster-dns.ts';
import { type Config, readConfig } from './config.ts';
import { type Health, serveHealth } from './health.ts';
import { systemClock } from '../kube/clock.ts';
import { KubeClient } from '../kube/client.ts';
import { messageOf } from '../kube/error-message.ts';
import { connect, type Connection, loadKubeConfig } from '../kube/config.ts';
import { Operator } from './operator.ts';
import { untilAnswering } from './await-api-server.ts';
import { ownImage } from './own-image.ts';
import { createLogger, type Logger } from '../telemetry/log.ts';
import { ScrapeAccess } from '../telemetry/scrape-access.ts';
import { serveMetrics, serveMetricsSecurely } from '../telemetry/serve-metrics.ts';
import { servingCertificate } from '../telemetry/serving-certificate.ts';
import { startTracing } from '../trace/start.ts';

/**
 * Small buffers are cut from one of this size in bytes, which stays as long as any of them does: each TLS connection keeps one of
 * some bytes. Node's default of 64 KiB is for programs with a few connections.
 */
const bufferPoolBytes = 4096;

/** The process: configuration in, operator until a signal, hand over, exit. */
async function main(): Promise<void> {
  Buffer.poolSize = bufferPoolBytes;
  const given = readConfig(process.argv.slice(2), process.env);
  // Node was started for size: its flags must be arguments, which no setting of a Deployment's environment reaches.
  if (given.optimizeFor === 'speed') setFlagsFromString('--no-optimize-for-size');
  const log = createLogger({ format: given.logFormat, level: given.logLevel });
  const tracing =
    given.tracesEndpoint && (await startTracing(given.tracesEndpoint, warnHourly(log, 'traces are not sent')));
  let operator: Operator | undefined;
  const servers = [
    await serveHealth(
      given.healthPort,
      healthOf(() => operator, log),
    ),
  ];

  const stop = async (signal: NodeJS.Signals) => {
    log.info({ signal }, 'stopping');
    for (const server of servers) server.close();
    await operator?.stop();
    if (tracing) await tracing.stop();
    process.exit(0);
  };
  process.once('SIGTERM', (signal) => void stop(signal));
  process.once('SIGINT', (signal) => void stop(signal));

  const connection = await connect(loadKubeConfig());
  await untilAnswering(new KubeClient(connection), systemClock, log);
  const config = { ...given, operatorImage: given.operatorImage ?? (await ownImage(connection, given)) };
  operator = new Operator({
    connection,
    config,
    dns: config.podName === undefined ? undefined : await observedDns(connection),
    managementIssuer: config.managementIssuer && (await withCertificates(config.managementIssuer)),
    clock: systemClock,
    log,
    onLeadershipLost: () => {
      log.error('leadership lost, exiting');
      process.exit(1);
    },
  });
  if (config.metricsPort > 0) servers.push(await serveMetrics(config.metricsPort, operator.metrics));
  const secureMetrics = await serveSecurely(config, connection, operator, log);
  if (secureMetrics) servers.push(secureMetrics);

  await operator.start();
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
  connection: Connection,
  { metrics }: Operator,
  log: Logger,
): Promise<Server | undefined> {
  if (secureMetricsPort === 0) return undefined;
  const warn = warnHourly(log, 'the API server does not decide who may read the metrics');
  const onError = (error: unknown) => warn(messageOf(error));
  const access = new ScrapeAccess(new KubeClient(connection), systemClock, onError);
  return serveMetricsSecurely(secureMetricsPort, metrics, access, await servingCertificate(new Date()));
}

/** Reports what would be reported all the time while a collector or the API server is away. */
function warnHourly(log: Logger, what: string): (message: string) => void {
  let reportedAt = -Infinity;
  return (message) => {
    if (performance.now() - reportedAt < hourMs) return;
    reportedAt = performance.now();
    log.warn({ message }, `${what}; the operator does not report this again for an hour`);
  };
}

const hourMs = 60 * 60_000;

/** Kubernetes gives each pod the DNS of its cluster. */
async function observedDns(connection: Connection): Promise<ClusterDns | undefined> {
  return clusterDns(new KubeClient(connection), await readFile('/etc/resolv.conf', 'utf8'));
}

/** @throws if the file cannot be read */
async function withCertificates({ url, caFile }: NonNullable<Config['managementIssuer']>): Promise<ManagementIssuer> {
  return { url, certificateAuthority: caFile === undefined ? undefined : await readFile(caFile, 'utf8') };
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
