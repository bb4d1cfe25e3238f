import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { PortForward } from '@kubernetes/client-node/dist/portforward.js';

/** A port of a pod. */
export interface PodPort {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
}

/** A port of this machine's loopback address that leads to a port of a pod. */
export interface ForwardedPort {
  readonly port: number;
  close(): void;
}

/** Forwards a port, as kubectl port-forward does: through the API server, past the network policies of the pod. */
export async function forwardPort(config: KubeConfig, { namespace, pod, port }: PodPort): Promise<ForwardedPort> {
  const forward = new PortForward(config);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    // The client of this connection reports what breaks it.
    socket.on('error', () => {});
    const forwarded = forward.portForward(namespace, pod, [port], socket, null, socket);
    forwarded.catch(() => socket.destroy());
    socket.on('close', () => {
      sockets.delete(socket);
      // Its polite end waits half a minute for an answer, and the process with it.
      void forwarded.then((opened) => (typeof opened === 'function' ? opened() : opened)?.terminate()).catch(() => {});
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
