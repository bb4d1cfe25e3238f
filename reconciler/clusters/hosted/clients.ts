import { isDeepStrictEqual } from 'node:util';
import { HostedClusterClient } from './client.ts';
import type { HostedClusterClientOptions } from './connect.ts';
import { HostedRooms } from './rooms.ts';
import type { HostedTarget } from './target.ts';

export interface HostedClientsOptions extends Pick<
  HostedClusterClientOptions,
  'clock' | 'destinations' | 'onRequest' | 'open'
> {
  /** Called after a change in the hosted cluster of this HostedControlPlane. */
  readonly onChange: (key: string) => void;
  /** Called when the operator has reverted a change of its objects by another client. */
  readonly onRevert: (key: string, what: string) => void;
  /** Called for everything that its API servers send, before it is read. */
  readonly onBytes?: ((key: string) => void) | undefined;
  /** Called when a watch was interrupted. It resumes automatically. */
  readonly onError: (key: string, error: unknown) => void;
}

/** The clients of all hosted clusters. Each is opened once, and reopened when its inputs have changed. */
export class HostedClients {
  readonly #options: HostedClientsOptions;
  readonly #open = new Map<string, { readonly inputs: unknown; readonly cluster: HostedClusterClient }>();
  readonly #rooms: HostedRooms;

  constructor(options: HostedClientsOptions) {
    this.#options = options;
    this.#rooms = new HostedRooms(options.clock);
  }

  get(key: string, target: HostedTarget): HostedClusterClient {
    const inputs = inputsOf(target);
    const existing = this.#open.get(key);
    if (existing && isDeepStrictEqual(existing.inputs, inputs)) return existing.cluster;
    void existing?.cluster.close();
    const { clock, destinations, onRequest, open, onChange, onRevert, onError, onBytes } = this.#options;
    const cluster = new HostedClusterClient(target, {
      clock,
      destinations,
      room: this.#rooms.open(),
      onRequest,
      onBytes: onBytes && (() => onBytes(key)),
      open,
      onChange: () => onChange(key),
      onRevert: (what) => onRevert(key, what),
      onError: (error) => onError(key, error),
    });
    this.#open.set(key, { inputs, cluster });
    return cluster;
  }

  /** Closes the client of a hosted cluster that the operator no longer manages. */
  async forget(key: string): Promise<void> {
    const existing = this.#open.get(key);
    this.#open.delete(key);
    await existing?.cluster.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((key) => this.forget(key)));
  }
}

/** All inputs of connections and watches. */
function inputsOf({ service, serverName, endpoint, ca, controller, applied }: HostedTarget): unknown {
  return [service, serverName, endpoint, ca, controller.certificate, applied];
}
