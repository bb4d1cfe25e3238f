import { createServer, type Server } from 'node:http';
import { once } from 'node:events';

/** What the kubelet's probes ask for. */
export interface Health {
  /** Why the process has to be started again, as a sentence; undefined while it lives. */
  readonly whyDead: string | undefined;
  readonly isReady: boolean;
}

/** Serves /healthz and /readyz on all addresses; resolves when it listens. @throws when the port is taken. */
export async function serveHealth(port: number, health: Health): Promise<Server> {
  const server = createServer((request, response) => {
    const [code, text] = answerTo(request.url, health);
    response.writeHead(code, { 'content-type': 'text/plain' });
    response.end(`${text}\n`);
  });
  server.listen(port);
  await once(server, 'listening');
  return server;
}

function answerTo(path: string | undefined, { whyDead, isReady }: Health): readonly [code: number, text: string] {
  if (path === '/healthz') return whyDead === undefined ? [200, 'ok'] : [503, `not ok: ${whyDead}`];
  if (path === '/readyz') return isReady ? [200, 'ok'] : [503, 'not ok'];
  return [404, 'not found'];
}
