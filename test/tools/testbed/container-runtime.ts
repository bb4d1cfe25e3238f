import { connect } from 'node:http2';
import { connect as connectSocket } from 'node:net';

/** An empty gRPC message: not compressed, of length 0. */
const emptyMessage = Buffer.alloc(5);

/**
 * Whether the container runtime behind a socket serves kubelets, by its `Version` method. An accepting socket is not
 * enough: containerd first answers "server is not initialized yet", which `kubeadm join` treats as an error.
 */
export async function servesKubelets(socketPath: string): Promise<boolean> {
  const session = connect('http://localhost', { createConnection: () => connectSocket(socketPath) });
  try {
    return await new Promise<boolean>((resolve) => {
      session.once('error', () => resolve(false));
      const path = '/runtime.v1.RuntimeService/Version';
      const headers = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' };
      const stream = session.request(headers);
      stream.once('trailers', (trailers) => resolve(trailers['grpc-status'] === '0'));
      stream.once('error', () => resolve(false));
      // a refusal has its status in the headers, and no trailers
      stream.once('end', () => setImmediate(resolve, false));
      stream.resume();
      stream.end(emptyMessage);
    });
  } finally {
    session.destroy();
  }
}
