import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * A TCP proxy in front of a local port that can drop all traffic silently, as a firewall that lost its connection state does,
 * or reset connections.
 */
export class FlakyProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;
  #accepted = 0;
  #isSilent = false;
  #bytesPerSecond = Infinity;

  private constructor(server: Server, port: number, sockets: Set<Socket>) {
    this.#server = server;
    this.port = port;
    this.#sockets = sockets;
  }

  static async start(target: number): Promise<FlakyProxy> {
    const sockets = new Set<Socket>();
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (typeof address !== 'object' || !address) throw new Error('the proxy has no port');
    const proxy = new FlakyProxy(server, address.port, sockets);
    server.on('connection', (socket) => proxy.#accept(socket, target));
    return proxy;
  }

  /** How many connections it has accepted. */
  get accepted(): number {
    return this.#accepted;
  }

  /** From now on it forwards nothing on any connection, existing or new, and closes none. */
  goSilent(): void {
    this.#isSilent = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /** New connections work again; those that went silent stay silent. */
  heal(): void {
    this.#isSilent = false;
  }

  /** From now on it accepts no connection. Those that are open stay as they are. */
  refuse(): void {
    this.#server.close();
  }

  /** From now on each connection forwards this many bytes per second in each direction; Infinity removes the limit. */
  slowDown(bytesPerSecond: number): void {
    this.#bytesPerSecond = bytesPerSecond;
  }

  /** Resets all connections. */
  reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(socket: Socket, target: number): void {
    this.#accepted++;
    this.#track(socket);
    if (this.#isSilent) return;
    const upstream = connect(target, '127.0.0.1');
    this.#track(upstream);
    this.#forward(socket, upstream);
    this.#forward(upstream, socket);
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setNoDelay();
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
  }

  /** Does not use pipe(), which would resume a paused socket whenever the other end drains. */
  #forward(from: Socket, to: Socket): void {
    from.on('data', (chunk) => {
      to.write(chunk);
      if (this.#bytesPerSecond === Infinity) return;
      from.pause();
      setTimeout(() => !this.#isSilent && from.resume(), (chunk.length / this.#bytesPerSecond) * 1000);
    });
    from.on('close', () => to.destroy());
  }
}
