import { relative } from 'node:path';
import { expect, inject } from 'vitest';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import { messageOf } from '../../../reconciler/kube/error-message.ts';
import { instanceFrom } from '../../tools/testbed/instance.ts';
import { processRecord } from '../../tools/testbed/process-record.ts';
import { addWorker } from '../../tools/testbed/workers.ts';
import { until } from '../until.ts';
import type { Workbench } from '../workbench.ts';
import { endLent } from './end-lent.ts';
import { holdLock } from './held-lock.ts';
import { type LentKind, type LentName, lentKinds } from './kinds.ts';
import { type LentRecord, lockPath, readRecord, writeRecord } from './lent-record.ts';
import { observeLent } from './observe.ts';
import { type LentState, patchTo, returnFaults } from './return-faults.ts';

/** What a borrower declares. */
export interface LoanOptions {
  /** Whether it replaces pods, or kills them. By default a restart is a fault of its file. */
  readonly restartsPods?: boolean;
  /** Whether it is about the birth, so that one that is there already is ended first. */
  readonly fromBirth?: boolean;
  /** Whether it keeps the control plane, so that the next borrower gets another one. By default it is checked and lent again. */
  readonly forGood?: boolean;
}

/** How long faults may stay as they are before they are taken for what the borrower has left, or for a birth that failed. */
const unchangedMs = { returned: 20_000, born: 120_000 };
/** What a borrower has waited for itself is long done by then, also when other tests share the processors. */
const longestMs = 180_000;

/** One file's use of a lent control plane, from the lock that it takes to the check of what it returns. */
export class Loan {
  readonly #name: LentName;
  readonly #options: LoanOptions;
  #file = 'an unknown file';
  #unlock: (() => Promise<void>) | undefined;
  #record: LentRecord | undefined;
  #lent: LentState | undefined;

  constructor(name: LentName, options: LoanOptions = {}) {
    this.#name = name;
    this.#options = options;
  }

  get kind(): LentKind {
    return lentKinds[this.#name];
  }

  /** Whether another file gets it afterwards. */
  get isReturned(): boolean {
    return !this.#options.forGood;
  }

  /** Waits until no other file has the control plane. Resolves with whether there is one. */
  async take(client: KubeClient): Promise<boolean> {
    this.#file = relative(process.cwd(), expect.getState().testPath ?? this.#file);
    this.#unlock = await holdLock(lockPath(this.#instance, this.#name), (holder) =>
      console.log(`waiting for process ${holder}, which has the lent control plane ${this.#name}`),
    );
    this.#record = this.#options.fromBirth ? undefined : await readRecord(this.#instance, this.#name);
    if (!this.#record) await endLent(this.#instance, client, this.#name);
    return this.#record !== undefined;
  }

  /** Creates the control plane, whose operator runs, and records it once nothing in it changes any more. */
  async giveBirth(bench: Workbench): Promise<void> {
    const { cluster, spec, workers, prepare } = this.kind;
    await prepare?.(this.#instance);
    await bench.create(cluster, spec);
    await bench.untilRolledOut(cluster);
    const target = { namespace: bench.namespace, name: cluster };
    await Promise.all(Array.from({ length: workers }, () => addWorker(this.#instance, target)));
    const birth = await this.#untilWithout(bench, ({ wrong }) => wrong, unchangedMs.born);
    if (birth.wrong.length > 0) throw new Error(`the control plane to be lent is not well:\n${birth.wrong.join('\n')}`);
    const run = await processRecord(inject('run'));
    if (!run) throw new Error('the process of this run has ended');
    this.#record = { run, birth };
  }

  /** Observes what the borrower gets. From now on an end without a return makes it unfit for others. */
  async begin(bench: Workbench): Promise<void> {
    const { run, birth } = this.#born;
    await writeRecord(this.#instance, this.#name, { run, birth, borrower: this.#file });
    this.#lent = await this.#observe(bench);
  }

  /** Gives the HostedControlPlane the spec and the annotations of its birth, and waits until it runs by them. */
  async undo(bench: Workbench): Promise<void> {
    const { cluster } = this.kind;
    const { birth } = this.#born;
    const { spec, metadata } = await bench.get(cluster);
    const left = Object.keys(metadata.annotations ?? {}).filter((name) => !birth.annotations.includes(name));
    const annotations = Object.fromEntries(left.map((name) => [name, null]));
    await bench.patch(cluster, { metadata: { annotations }, spec: patchTo({ ...spec }, { ...birth.spec }) });
    await bench.untilRolledOut(cluster);
  }

  /**
   * Checks what is returned, while the operator still runs, and ends it unless it is clean.
   * @returns why it may not be lent again
   */
  async end(bench: Workbench): Promise<readonly string[]> {
    const lent = this.#lent;
    if (!lent || this.#options.forGood) return [];
    const terms = { birth: this.#born.birth, lent, restartsPods: this.#options.restartsPods ?? false };
    const faultsOf = (now: LentState) => returnFaults(terms, now);
    return this.#untilWithout(bench, faultsOf, unchangedMs.returned).then(faultsOf, (error: unknown) => [
      messageOf(error),
    ]);
  }

  /** Lends it to the next file, or ends it, once the operator has stopped. @throws with the faults and the name of the file */
  async release(client: KubeClient, faults: readonly string[]): Promise<void> {
    const isClean = this.#lent !== undefined && faults.length === 0 && !this.#options.forGood;
    if (isClean) await writeRecord(this.#instance, this.#name, { run: this.#born.run, birth: this.#born.birth });
    else await endLent(this.#instance, client, this.#name);
    if (faults.length === 0) return;
    const list = faults.map((fault) => `\n- ${fault}`).join('');
    throw new Error(
      `${this.#file} returned the lent control plane "${this.#name}" dirty; no other file gets it:${list}`,
    );
  }

  /** Lets the next file take it, or make another one. */
  async unlock(): Promise<void> {
    await this.#unlock?.();
    this.#unlock = undefined;
  }

  get #born(): LentRecord {
    if (!this.#record) throw new Error(`the lent control plane "${this.#name}" was not born yet`);
    return this.#record;
  }

  /** The last state: without faults, or with those that stayed. @throws when it cannot be observed any more */
  async #untilWithout(
    bench: Workbench,
    faultsOf: (state: LentState) => readonly string[],
    limitMs: number,
  ): Promise<LentState> {
    const end = performance.now() + longestMs;
    let last: LentState | Error | undefined;
    const faults = () => (last instanceof Error ? last.message : last && faultsOf(last));
    const isOver = async () => {
      last = await this.#observe(bench).catch((error: unknown) => new Error(messageOf(error), { cause: error }));
      return (!(last instanceof Error) && faultsOf(last).length === 0) || performance.now() > end;
    };
    await until('a lent control plane without faults', isOver, limitMs, faults).catch(() => undefined);
    if (!last || last instanceof Error) throw last ?? new Error('it was never observed');
    return last;
  }

  async #observe(bench: Workbench): Promise<LentState> {
    const hosted = await bench.hosted(this.kind.cluster);
    try {
      return await observeLent(bench, this.kind.cluster, hosted);
    } finally {
      await hosted.connection.close();
    }
  }

  get #instance() {
    return instanceFrom(process.env, inject('testbed'));
  }
}
