import { ServiceAccount } from '../../constructs/api/resources.ts';
import { type Endpoint, formatEndpoint } from '../../constructs/control-plane/facts.ts';
import { fieldManager } from '../../constructs/api/group.ts';
import { KubeClient } from '../kube/client.ts';
import { type Connection, connectionFor } from '../kube/config.ts';
import { isForbidden } from '../kube/errors.ts';
import { fingerprint } from '../pki/pem.ts';
import type { KeyPair } from '../pki/issue.ts';
import type { HostedClient } from '../scope.ts';

/** How to reach one hosted API server, from inside and from outside. */
export interface HostedTarget {
  /** Address of the API server's Service in the management cluster, `host:port`. */
  readonly service: Endpoint;
  /** The name in the serving certificate that is verified whatever address is dialled. */
  readonly serverName: string;
  /** The published endpoint, as workers and Cluster API dial it. */
  readonly endpoint: Endpoint;
  /** PEM of the cluster's authority. */
  readonly authority: string;
  /** Our own identity in the hosted cluster. */
  readonly controller: KeyPair;
  /** Makes a short-lived administrator: only to grant our own identity, and others, their rights. */
  readonly admin: () => Promise<KeyPair>;
}

/** A client with connections of its own to close. */
export interface ClosableClient extends HostedClient {
  close(): Promise<void>;
}

/** A hosted API server answers at once or not at all; a worker slot is not to wait for the usual half minute. */
const deadlineMs = 5_000;

/** Opens connections to a hosted cluster; they are dialled on first use. */
export function hostedClient(target: HostedTarget): ClosableClient {
  const connect = (address: Endpoint, client: KeyPair, serverName?: string): Connection =>
    connectionFor({
      server: `https://${formatEndpoint(address)}`,
      ca: target.authority,
      cert: client.certificate,
      key: client.key,
      ...(serverName ? { serverName } : {}),
    });
  const inside = connect(target.service, target.controller, target.serverName);
  const outside = connect(target.endpoint, target.controller);
  const controller = new KubeClient(inside, { deadlineMs });
  let applied: string | undefined;
  return {
    async applyAsAdmin(objects) {
      const rendered = JSON.stringify(objects);
      if (rendered === applied) return;
      const connection = connect(target.service, await target.admin(), target.serverName);
      try {
        const admin = new KubeClient(connection, { deadlineMs });
        for (const object of objects) await admin.apply(object, { fieldManager, force: true });
      } finally {
        await connection.close();
      }
      applied = rendered;
    },
    async controllersWork() {
      try {
        return (await controller.find(ServiceAccount, { namespace: 'default', name: 'default' })) !== undefined;
      } catch (error) {
        // Somebody took our rights away: the next pass grants them again.
        if (isForbidden(error)) applied = undefined;
        throw error;
      }
    },
    async readyThroughEndpoint() {
      await new KubeClient(outside, { deadlineMs }).raw('/readyz');
    },
    async close() {
      await Promise.all([inside.close(), outside.close()]);
    },
  };
}

/** Clients of all hosted clusters, each opened once and opened anew when what it is made of has changed. */
export class HostedClients {
  readonly #open = new Map<string, { readonly identity: string; readonly client: ClosableClient }>();

  get(key: string, target: HostedTarget): HostedClient {
    const identity = JSON.stringify([
      target.service,
      target.endpoint,
      target.authority,
      fingerprint(target.controller.certificate),
    ]);
    const existing = this.#open.get(key);
    if (existing?.identity === identity) return existing.client;
    void existing?.client.close();
    const client = hostedClient(target);
    this.#open.set(key, { identity, client });
    return client;
  }

  async forget(key: string): Promise<void> {
    const existing = this.#open.get(key);
    this.#open.delete(key);
    await existing?.client.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((key) => this.forget(key)));
  }
}
