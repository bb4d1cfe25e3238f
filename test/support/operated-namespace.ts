import type { LookupFunction } from 'node:net';
import { afterAll, beforeAll, inject } from 'vitest';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import type { Connection } from '../../reconciler/kube/config.ts';
import { cutAfter } from './cut-connection.ts';
import { endNamespacedRights, namespacedRights } from './namespaced-rights.ts';
import { startOperator, type TestOperator } from './operator.ts';
import { until } from './until.ts';
import { Workbench } from './workbench.ts';

export interface OperatedNamespaceOptions {
  /** Returns the path of the kubeconfig of another API server. By default that of the testbed. */
  readonly kubeconfig?: () => string;
  /** Resolves the hosts of endpoints. By default this machine's resolver does. */
  readonly lookup?: LookupFunction;
  /** Whether the operator has only the rights of an installation for this namespace. By default it is administrator. */
  readonly hasOwnRights?: boolean;
  /** What must exist, or may not exist, when the operator starts. By default nothing. */
  readonly prepare?: (client: KubeClient) => Promise<unknown>;
  /** The newest release revision of its operators at first. By default that of this operator. */
  readonly newestRevision?: number;
}

/** A namespace with its own operator, which reconciles no other namespace. */
export class OperatedNamespace extends Workbench {
  readonly #options: OperatedNamespaceOptions;
  /** The newest release revision of operators that start from now on; undefined for that of this operator. */
  newestRevision: number | undefined;
  #operator: TestOperator | undefined;

  constructor(namespace: string, options: OperatedNamespaceOptions = {}) {
    super(namespace);
    this.#options = options;
    this.newestRevision = options.newestRevision;
  }

  /** Creates the namespace and starts its operator. */
  async open(): Promise<void> {
    await this.make(this.#kubeconfig);
    await this.#options.prepare?.(this.client);
    await this.startOperator();
  }

  /** The running operator. @throws while none runs */
  get operator(): TestOperator {
    if (!this.#operator) throw new Error('no operator runs: start one first');
    return this.#operator;
  }

  /** @param through wraps its connection, to cut it at an exact moment */
  async startOperator(through?: (connection: Connection) => Connection): Promise<void> {
    const limited = this.#options.hasOwnRights
      ? await namespacedRights(this.client, this.#kubeconfig, this.namespace)
      : undefined;
    this.#operator = await startOperator({
      kubeconfig: this.#kubeconfig,
      namespace: this.namespace,
      lookup: this.#options.lookup,
      newestRevision: this.newestRevision,
      through: limited ? () => limited : through,
    });
  }

  async stopOperator(): Promise<void> {
    await this.#operator?.stop();
    this.#operator = undefined;
  }

  /** Starts another operator process, which has only the state in the API. */
  async restartOperator(): Promise<void> {
    await this.stopOperator();
    await this.startOperator();
  }

  /** Runs an operator that is killed after this many writes; returns whether it was killed before `isDone`. */
  async runUntilKilled(writes: number, isDone: () => Promise<boolean>, limitMs: number): Promise<boolean> {
    let isDead = () => false;
    await this.startOperator((connection) => {
      const cut = cutAfter(writes, connection);
      isDead = cut.isDead;
      return cut.connection;
    });
    await until('the operator to be killed or done', async () => isDead() || (await isDone()), limitMs);
    await this.stopOperator();
    return isDead();
  }

  override async close(): Promise<void> {
    await this.stopOperator();
    if (this.#options.hasOwnRights) await endNamespacedRights(this.client, this.namespace);
    await super.close();
  }

  get #kubeconfig(): string {
    return this.#options.kubeconfig?.() ?? inject('kubeconfig');
  }
}

/**
 * Creates the namespace and starts its operator before the tests of a file, and ends both after them. Hooks that the file
 * registers later run in between: their set-up after this one, their tear-down before.
 */
export function operatedNamespace(namespace: string, options?: OperatedNamespaceOptions): OperatedNamespace {
  const bench = new OperatedNamespace(namespace, options);
  beforeAll(() => bench.open());
  afterAll(() => bench.close());
  return bench;
}
