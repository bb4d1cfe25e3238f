import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { metricsPath, providerNames } from '../../../constructs/cluster/provider-names.ts';
import type { KeyPair } from '../../pki/issue.ts';
import type { Metrics } from './metrics.ts';
import type { ScrapeAccess } from './scrape-access.ts';

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
  { certificate, key }: KeyPair,
): Promise<Server> {
  const answer = answering(metrics);
  const server = createSecureServer({ cert: certificate, key }, (request, response) => {
    void access.resultOn(request.headers.authorization).then((result) => {
      if (result === 200) answer(request, response);
      else refuse(response, result);
    });
  });
  return listening(server, port);
}

const refusals = {
  401: 'send a token of a ServiceAccount of the management cluster as bearer token',
  403: `the token belongs to a user who may not get ${metricsPath}: bind the ClusterRole ${providerNames.metricsReaderRole}`,
  503: 'the management API server does not answer whether you may read the metrics: try again',
} as const;

function refuse(response: ServerResponse, status: keyof typeof refusals): void {
  response.writeHead(status, { 'content-type': 'text/plain' }).end(`${refusals[status]}\n`);
}

function answering(metrics: Readable): RequestListener {
  return (request: IncomingMessage, response: ServerResponse) => {
    if (request.url !== metricsPath) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('not found\n');
      return;
    }
    metrics.text().then(
      (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
      (error: unknown) => response.writeHead(500, { 'content-type': 'text/plain' }).end(`${String(error)}\n`),
    );
  };
}

async function listening(server: Server, port: number): Promise<Server> {
  server.listen(port);
  await once(server, 'listening');
  return server;
}
