import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createSecureServer, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { ConnectionTarget } from '../../reconciler/kube/config.ts';
import { createCA, issueCertificate, type KeyPair, validFor } from '../../reconciler/pki/issue.ts';

/** An API server in a process of its own, which goes on while that of the test is busy. Its watches send without a pause. */
export interface ResettingServer {
  readonly target: ConnectionTarget;
  /** Resets all connections, as the kernel does for a program that is killed before it has read everything. */
  reset(): void;
  stop(): Promise<void>;
}

export async function startResettingServer(): Promise<ResettingServer> {
  const validity = validFor(3_600_000, new Date());
  const certificateAuthority = await createCA({ commonName: 'test' }, validity);
  const plan = { commonName: 'server', organizations: [], usages: ['server'], hosts: ['127.0.0.1'] } as const;
  const child = fork(import.meta.filename, [], { execArgv: [] });
  child.send(await issueCertificate(plan, certificateAuthority, validity));
  const [port] = (await once(child, 'message')) as [number];
  return {
    target: { server: `https://127.0.0.1:${port}`, ca: certificateAuthority.certificate },
    reset: () => void child.send('reset'),
    stop: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'map' } };
const event = { type: 'MODIFIED', object: { ...object, data: { text: 'x'.repeat(9_000) } } };
/** Within 50 ms more than a client lets a server send before it answers. */
const events = `${JSON.stringify(event)}\n`.repeat(10);

function serve({ certificate: cert, key }: KeyPair): void {
  const connections = new Set<Socket>();
  const server = createSecureServer({ cert, key });
  server.on('connection', (socket: Socket) => connections.add(socket.on('error', () => {})));
  server.on('sessionError', () => {});
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => {});
    stream.respond({ ':status': 200 });
    if (!headers[':path']?.includes('watch=true')) return void stream.end(JSON.stringify(object));
    const timer = setInterval(() => stream.write(events), 5);
    stream.on('close', () => clearInterval(timer));
  });
  process.on('message', () => {
    for (const socket of connections) socket.resetAndDestroy();
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.send?.(typeof address === 'object' ? address?.port : undefined);
  });
}

if (import.meta.main) {
  process.on('disconnect', () => process.exit());
  process.once('message', (pair) => serve(pair as KeyPair));
}
