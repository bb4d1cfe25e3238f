import 'reflect-metadata';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { metricsPath, providerNames } from '../../constructs/cluster/provider-names.ts';
import { createCA, issueCertificate, type KeyPair, validFor } from '../pki/issue.ts';
import type { Metrics } from './telemetry/metrics.ts';
import type { ScrapeAccess } from './telemetry/scrape-access.ts';

/** What the kubelet's probes ask for. */
export interface Health {
  /** Why the process has to be started again, as a sentence; undefined while it lives. */
  readonly whyDead: string | undefined;
  readonly isReady: boolean;
}

/** Serves /healthz and /readyz on all addresses; resolves when it listens. @throws when the port is taken. */
export async function serveHealth(port: number, health: Health): Promise<Server> {
  return listening(
    createServer(({ url }, response) => reply(response, ...healthAt(url, health))),
    port,
  );
}

function healthAt(path: string | undefined, { whyDead, isReady }: Health): [code: number, text: string] {
  if (path === '/healthz') return whyDead === undefined ? [200, 'ok'] : [503, `not ok: ${whyDead}`];
  if (path === '/readyz') return isReady ? [200, 'ok'] : [503, 'not ok'];
  return [404, 'not found'];
}

type Readable = Pick<Metrics, 'text' | 'contentType'>;

/** Serves /metrics on all addresses to everyone who can connect; resolves when it listens. @throws when the port is taken. */
export async function serveMetrics(port: number, metrics: Readable): Promise<Server> {
  return listening(createServer(answering(metrics)), port);
}

/** The same by HTTPS, to those whom the management cluster permits it. */
export async function serveMetricsSecurely(
  port: number,
  metrics: Readable,
  access: Pick<ScrapeAccess, 'resultOn'>,
): Promise<Server> {
  const { certificate, key } = await servingCertificate(new Date());
  const answer = answering(metrics);
  const server = createSecureServer({ cert: certificate, key }, (request, response) => {
    void access.resultOn(request.headers.authorization).then((result) => {
      if (result === 200) answer(request, response);
      else reply(response, result, refusals[result]);
    });
  });
  return listening(server, port);
}

const refusals = {
  401: 'send a token of a ServiceAccount of the management cluster as bearer token',
  403: `the token belongs to a user who may not get ${metricsPath}: bind the ClusterRole ${providerNames.metricsReaderRole}`,
  503: 'the management API server does not answer whether you may read the metrics: try again',
} as const;

const years = 365 * 24 * 3_600_000;

/**
 * A certificate for the metrics of this process, by a CA whose key is forgotten: it encrypts, and Prometheus does not verify it. It is valid for
 * longer than any pod lives.
 */
async function servingCertificate(now: Date): Promise<KeyPair> {
  const validity = validFor(10 * years, now);
  const ca = await createCA({ commonName: 'hosted-control-plane-metrics' }, validity);
  const plan = {
    commonName: 'hosted-control-plane-metrics',
    organizations: [],
    usages: ['server'],
    hosts: ['localhost'],
  } as const;
  return issueCertificate(plan, ca, validity);
}

function answering(metrics: Readable): RequestListener {
  return ({ url }, response) => {
    if (url !== metricsPath) return reply(response, 404, 'not found');
    metrics.text().then(
      (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
      (error: unknown) => reply(response, 500, String(error)),
    );
  };
}

function reply(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain' }).end(`${text}\n`);
}

async function listening(server: Server, port: number): Promise<Server> {
  server.listen(port);
  await once(server, 'listening');
  return server;
}
