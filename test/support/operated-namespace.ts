import type { LookupFunction } from 'node:net';
import type { Dispatcher } from 'undici';
import { afterAll, beforeAll, inject } from 'vitest';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import type { Clock } from '../../reconciler/kube/clock.ts';
import { cutAfter } from './cut-connection.ts';
import type { Loan } from './lent/loan.ts';
import { startOperator, type TestOperator } from './operator.ts';
import { ShippedRights } from './shipped-rights.ts';
import { makeNamespace } from './test-namespace.ts';
import { until } from './until.ts';
import { Workbench } from './workbench.ts';

export interface OperatedNamespaceOptions {
  /** Returns the path of the kubeconfig of another API server. By default that of the testbed. */
  readonly kubeconfig?: () => string;
  /** Resolves the hosts of endpoints. By default this machine's resolver does. */
  readonly lookup?: LookupFunction | undefined;
  /** What must exist, or may not exist, when the operator starts. By default nothing. */
  readonly prepare?: (client: KubeClient) => Promise<unknown>;
  /** The newest release revision of its operators at first. By default that of this operator. */
  readonly newestRevision?: number;
  /** A control plane that is Ready already, with its namespace. By default the namespace is new and empty. */
  readonly loan?: Loan;
}

/** A namespace with its own operator, which reconciles no other namespace, and has the rights of an installation for it. */
export class OperatedNamespace extends Workbench {
  readonly #options: OperatedNamespaceOptions;
  /** The newest release revision of operators that start from now on; undefined for that of this operator. */
  newestRevision: number | undefined;
  /** The clock of operators that start from now on; undefined for that of this machine. */
  clock: Clock | undefined;
  #operator: TestOperator | undefined;
  #rights: Promise<ShippedRights> | undefined;

  constructor(namespace: string, options: OperatedNamespaceOptions = {}) {
    super(namespace);
    this.#options = options;
    this.newestRevision = options.newestRevision;
  }

  /** Creates the namespace and starts its operator. */
  async open(): Promise<void> {
    await this.make(this.#kubeconfig);
    await this.#options.prepare?.(this.client);
    if (!this.#operator) await this.startOperator();
  }

  /** A control plane that was lent is borrowed instead, or born, by an operator that goes on. */
  override async make(kubeconfig: string): Promise<void> {
    const { loan } = this.#options;
    if (!loan) return super.make(kubeconfig);
    await this.connect(kubeconfig);
    if (!(await loan.take(this.client))) {
      await makeNamespace(this.client, this.namespace);
      await this.startOperator();
      await loan.giveBirth(this);
    }
    await loan.begin(this);
  }

  /** Makes a lent control plane what it was when it was borrowed, in its spec and annotations. */
  async undo(): Promise<void> {
    if (!this.#options.loan) throw new Error(`nothing in namespace ${this.namespace} is lent`);
    await this.#options.loan.undo(this);
  }

  /** The running operator. @throws while none runs */
  get operator(): TestOperator {
    if (!this.#operator) throw new Error('no operator runs: start one first');
    return this.#operator;
  }

  /** The rights of its operators, to grant what the documentation tells an administrator to grant. */
  get rights(): Promise<ShippedRights> {
    const { client, namespace } = this;
    this.#rights ??= ShippedRights.grant({
      client,
      kubeconfig: this.#kubeconfig,
      namespace,
      watchNamespace: namespace,
    });
    return this.#rights;
  }

  /** @param through sees every request of its connection, to cut it at an exact moment */
  async startOperator(through?: Dispatcher.DispatcherComposeInterceptor): Promise<void> {
    this.#operator = await startOperator({
      rights: await this.rights,
      lookup: this.#options.lookup,
      newestRevision: this.newestRevision,
      clock: this.clock,
      through,
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
    const cut = cutAfter(writes);
    await this.startOperator(cut.interceptor);
    await until('the operator to be killed or done', async () => cut.isDead() || (await isDone()), limitMs);
    await this.stopOperator();
    return cut.isDead();
  }

  /** By the same resolver as the operator. */
  override hosted(cluster: string, lookup = this.#options.lookup): Promise<KubeClient> {
    return super.hosted(cluster, lookup);
  }

  override async close(): Promise<void> {
    const { loan } = this.#options;
    if (loan) return this.#giveBack(loan);
    await this.#endOperator();
    await super.close();
  }

  async #endOperator(): Promise<void> {
    await this.stopOperator();
    // who could not grant them has failed with that already
    const rights = await this.#rights?.catch(() => undefined);
    await rights?.end();
  }

  /** Whatever fails, no other file waits for it. */
  async #giveBack(loan: Loan): Promise<void> {
    const { client } = this;
    try {
      await this.endCommands();
      const faults = await loan.end(this);
      await this.#endOperator();
      await loan.release(client, faults);
    } finally {
      await loan.unlock();
      await client.connection.close();
    }
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
