import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';

/** An HTTP proxy on a loopback port that opens tunnels (CONNECT). */
export interface ConnectProxy {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  stop(): Promise<void>;
}

export async function startConnectProxy(): Promise<ConnectProxy> {
  const sockets = new Set<Socket>();
  const server = createServer();
  server.on('connect', ({ url }, client: Socket) => {
    const { hostname, port } = new URL(`tcp://${url}`);
    const target = connect(Number(port), hostname, () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      client.pipe(target).pipe(client);
    });
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
