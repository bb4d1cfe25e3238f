import { fingerprint } from '../pki/pem.ts';
import { HostedClusterClient, type HostedClusterClientOptions } from './client.ts';
import type { HostedTarget } from './target.ts';

export interface HostedClientsOptions extends Pick<
  HostedClusterClientOptions,
  'clock' | 'lookup' | 'onRequest' | 'open'
> {
  /** Something has changed in the hosted cluster of this HostedControlPlane. */
  readonly onChange: (key: string) => void;
  /** Somebody has changed what we determine, and it was put right. */
  readonly onRevert: (key: string, what: string) => void;
  /** A watch was interrupted; it goes on by itself. */
  readonly onError: (key: string, error: unknown) => void;
}

/** What is known of all hosted clusters, each opened once and opened anew when what it is made of has changed. */
export class HostedClients {
  readonly #options: HostedClientsOptions;
  readonly #open = new Map<string, { readonly identity: string; readonly cluster: HostedClusterClient }>();

  constructor(options: HostedClientsOptions) {
    this.#options = options;
  }

  get(key: string, target: HostedTarget): HostedClusterClient {
    const identity = identityOf(target);
    const existing = this.#open.get(key);
    if (existing?.identity === identity) return existing.cluster;
    void existing?.cluster.close();
    const { clock, lookup, onRequest, open, onChange, onRevert, onError } = this.#options;
    const cluster = new HostedClusterClient(target, {
      clock,
      lookup,
      onRequest,
      open,
      onChange: () => onChange(key),
      onRevert: (what) => onRevert(key, what),
      onError: (error) => onError(key, error),
    });
    this.#open.set(key, { identity, cluster });
    return cluster;
  }

  /** Ends everything of a hosted cluster that is not looked after any more. */
  async forget(key: string): Promise<void> {
    const existing = this.#open.get(key);
    this.#open.delete(key);
    await existing?.cluster.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((key) => this.forget(key)));
  }
}

/** Everything that connections and watches depend on. */
function identityOf({ service, serverName, endpoint, ca, controller, applied }: HostedTarget): string {
  return JSON.stringify([service, serverName, endpoint, ca, fingerprint(controller.certificate), applied]);
}
