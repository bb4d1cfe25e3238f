import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigMap } from '../../constructs/api/resources.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import { isAlreadyExists, kubeErrorOf } from '../../reconciler/kube/errors.ts';

/** The outcome of one kind of request. */
export interface Tally {
  /** Requests with the expected answer. */
  answered: number;
  /** Requests that took longer than a second, with a second attempt if there was one. */
  slow: number;
  /** Requests without an answer on one connection, and with one on a new connection at once. */
  reconnects: number;
  /** Why there was no answer on the first connection. */
  readonly reasons: string[];
  /** Requests without an answer on the new connection either, or that were refused. */
  readonly failures: string[];
}

export interface ContinuousLoadOptions {
  /** Opens the API with a client that reads its kubeconfig again. Closed by the load. */
  readonly open: () => Promise<KubeClient>;
  /** The path that is called, such as that of a kubelet behind the API server, which `kubectl logs` calls too. */
  readonly path: string;
}

/** The path at which an API server reaches the kubelet of a node. */
export const kubeletPath = (node: string): string => `/api/v1/nodes/${node}/proxy/healthz`;

const namespace = 'default';
/** Pause after each answer: the system under test shares the processors. */
const restMs = 50;
const slowMs = 1_000;
/**
 * Timeout after which a request counts as unanswered on its connection. An election in etcd may take seconds, and so may anything
 * on a machine with ten times its usual load. Such a request is slow, and has not failed.
 */
const deadlineMs = 30_000;

/**
 * A writer, a watcher and a client that calls a path, such as that of a kubelet behind the API server, without end. Each uses one connection
 * and opens another one, with the current kubeconfig, when that gives no answer.
 */
export class ContinuousLoad {
  readonly writes: Tally = { answered: 0, slow: 0, reconnects: 0, reasons: [], failures: [] };
  readonly calls: Tally = { answered: 0, slow: 0, reconnects: 0, reasons: [], failures: [] };
  /** Events of the watch; each restart of the watch counts as a reconnect. */
  readonly events: Tally = { answered: 0, slow: 0, reconnects: 0, reasons: [], failures: [] };
  readonly #options: ContinuousLoadOptions;
  readonly #written: string[] = [];
  readonly #seen = new Set<string>();
  readonly #writing: Promise<void>;
  readonly #work: Promise<unknown>;
  #isWriting = true;
  #isStopped = false;

  constructor(options: ContinuousLoadOptions) {
    this.#options = options;
    this.#writing = this.#write();
    this.#work = Promise.all([this.#writing, this.#call(), this.#watch()]);
  }

  /** Acknowledged writes that the watcher has not received. */
  get unseen(): string[] {
    return this.#written.filter((name) => !this.#seen.has(name));
  }

  /** Ends the writer alone, so that the watcher can receive every write. */
  async stopWriting(): Promise<void> {
    this.#isWriting = false;
    await this.#writing;
  }

  async stop(): Promise<void> {
    this.#isWriting = false;
    this.#isStopped = true;
    await this.#work;
  }

  #write(): Promise<void> {
    let number = 0;
    const goesOn = () => this.#isWriting;
    return this.#repeat(this.writes, goesOn, async (client, attempt) => {
      if (attempt === 'first') number += 1;
      const name = `load-${number}`;
      const { apiVersion, kind } = ConfigMap;
      const object = { apiVersion, kind, metadata: { namespace, name, labels: { test: 'load' } } };
      await client.create(object, { fieldManager: 'test', deadlineMs }).catch((error: unknown) => {
        // the previous attempt may have succeeded, with only its answer lost
        if (attempt === 'first' || !isAlreadyExists(error)) throw error;
      });
      this.#written.push(name);
    });
  }

  #call(): Promise<void> {
    const { path } = this.#options;
    const goesOn = () => !this.#isStopped;
    return this.#repeat(this.calls, goesOn, async (client) => {
      await client.raw(path, { deadlineMs });
    });
  }

  async #repeat(
    tally: Tally,
    goesOn: () => boolean,
    ask: (client: KubeClient, attempt: 'first' | 'second') => Promise<void>,
  ): Promise<void> {
    let client = await this.#options.open();
    while (goesOn()) {
      const start = performance.now();
      try {
        await ask(client, 'first');
        tally.answered += 1;
      } catch (first) {
        const old = client;
        client = await this.#options.open();
        void old.connection.close();
        try {
          await ask(client, 'second');
          tally.reconnects += 1;
          tally.reasons.push(`${new Date().toISOString()} ${describe(first)}`);
        } catch (second) {
          tally.failures.push(`${new Date().toISOString()} ${String(first)}; then ${String(second)}`);
        }
      }
      if (performance.now() - start > slowMs) tally.slow += 1;
      await sleep(restMs);
    }
    await client.connection.close();
  }

  /** The version from which to watch. What the writer wrote before is seen by this. */
  async #list(client: KubeClient, selection: { readonly namespace: string; readonly labelSelector: string }) {
    const { items, resourceVersion } = await client.list(ConfigMap, selection);
    for (const { metadata } of items) this.#seen.add(metadata.name);
    return resourceVersion;
  }

  async #watch(): Promise<void> {
    let resourceVersion: string | undefined;
    while (!this.#isStopped) {
      const client = await this.#options.open();
      try {
        const selection = { namespace, labelSelector: 'test=load', deadlineMs };
        resourceVersion ??= await this.#list(client, selection);
        for await (const event of client.watch(ConfigMap, { ...selection, resourceVersion, timeoutSeconds: 20 })) {
          if (event.type === 'BOOKMARK') resourceVersion = event.resourceVersion;
          else {
            this.#seen.add(event.object.metadata.name);
            resourceVersion = event.object.metadata.resourceVersion;
            this.events.answered += 1;
          }
          if (this.#isStopped) break;
        }
      } catch (error) {
        // a refused request has failed; an interrupted watch continues from its last version
        if ((kubeErrorOf(error)?.code ?? 0) === 0) {
          this.events.reconnects += 1;
          this.events.reasons.push(`${new Date().toISOString()} ${describe(error)}`);
        } else this.events.failures.push(`${new Date().toISOString()} ${String(error)}`);
        await sleep(restMs);
      } finally {
        void client.connection.close();
      }
    }
  }
}

/** An error with its causes, which name what happened to the connection. */
function describe(error: unknown): string {
  return error instanceof Error && error.cause !== undefined ? `${error}: ${describe(error.cause)}` : String(error);
}
