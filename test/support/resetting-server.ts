import { once } from 'node:events';
import { createSecureServer, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import type { ConnectionTarget } from '../../reconciler/kube/config.ts';
import { createCA, issueCertificate, type KeyPair, validFor } from '../../reconciler/pki/issue.ts';

/** An API server in a thread of its own, which goes on while that of the test is busy. Its watches send without a pause. */
export interface ResettingServer {
  readonly target: ConnectionTarget;
  /** Resets all connections, as the kernel does for a program that is killed before it has read everything. Blocks until it is done. */
  reset(): void;
  stop(): Promise<void>;
}

interface Start {
  readonly pair: KeyPair;
  /** How many resets are done. */
  readonly resets: Int32Array<SharedArrayBuffer>;
}

export async function startResettingServer(): Promise<ResettingServer> {
  const validity = validFor(3_600_000, new Date());
  const certificateAuthority = await createCA({ commonName: 'test' }, validity);
  const plan = { commonName: 'server', organizations: [], usages: ['server'], hosts: ['127.0.0.1'] } as const;
  const resets = new Int32Array(new SharedArrayBuffer(4));
  const start: Start = { pair: await issueCertificate(plan, certificateAuthority, validity), resets };
  const worker = new Worker(import.meta.filename, { workerData: start, execArgv: [] });
  const [port] = (await once(worker, 'message')) as [number];
  return {
    target: { server: `https://127.0.0.1:${port}`, ca: certificateAuthority.certificate },
    reset: () => {
      const before = Atomics.load(resets, 0);
      worker.postMessage('reset', []);
      if (Atomics.wait(resets, 0, before, 30_000) === 'timed-out')
        throw new Error('the server has not reset its connections');
    },
    stop: async () => void (await worker.terminate()),
  };
}

const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'map' } };
const event = { type: 'MODIFIED', object: { ...object, data: { text: 'x'.repeat(9_000) } } };
/** Within 50 ms more than a client lets a server send before it answers. */
const events = `${JSON.stringify(event)}\n`.repeat(10);

function serve({ pair: { certificate: cert, key }, resets }: Start, port: NonNullable<typeof parentPort>): void {
  const connections = new Set<Socket>();
  const server = createSecureServer({ cert, key });
  server.on('connection', (socket: Socket) => {
    connections.add(socket.on('error', () => {}));
    socket.on('close', () => connections.delete(socket));
  });
  server.on('sessionError', () => {});
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => {});
    stream.respond({ ':status': 200 });
    if (!headers[':path']?.includes('watch=true')) return void stream.end(JSON.stringify(object));
    const timer = setInterval(() => stream.write(events), 5);
    stream.on('close', () => clearInterval(timer));
  });
  const reset = async (): Promise<void> => {
    await Promise.all([...connections].map((socket) => once(socket.resetAndDestroy(), 'close')));
    Atomics.add(resets, 0, 1);
    Atomics.notify(resets, 0);
  };
  port.on('message', () => void reset());
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    port.postMessage(typeof address === 'object' ? address?.port : undefined);
  });
}

if (import.meta.main && parentPort) serve(workerData as Start, parentPort);
