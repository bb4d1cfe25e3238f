import { createServer, type Server } from 'node:http';
import { once } from 'node:events';

/** The results of the kubelet's probes. */
export interface Health {
  readonly isAlive: boolean;
  readonly isReady: boolean;
}

/** Serves /healthz and /readyz on all addresses; resolves when it listens. @throws when the port is taken. */
export async function serveHealth(port: number, health: Health): Promise<Server> {
  const server = createServer((request, response) => {
    const answers: Readonly<Record<string, boolean>> = { '/healthz': health.isAlive, '/readyz': health.isReady };
    const isOk = answers[request.url ?? ''];
    response.writeHead(isOk === undefined ? 404 : isOk ? 200 : 503, { 'content-type': 'text/plain' });
    response.end(isOk === undefined ? 'not found\n' : isOk ? 'ok\n' : 'not ok\n');
  });
  server.listen(port);
  await once(server, 'listening');
  return server;
}
