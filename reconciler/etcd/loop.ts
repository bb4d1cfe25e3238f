import { isDeepStrictEqual } from 'node:util';
import { type Clock, pause } from '../kube/clock.ts';
import { messageOf } from '../kube/error-message.ts';
import { openEtcd } from './access.ts';
import { watchedMemberObjects } from './member-objects.ts';
import type { EtcdObservation } from './members.ts';
import { type EtcdReport, significance } from './report.ts';
import { reconcileEtcd, type EtcdTask, type OpenEtcdLoopAccess } from './reconcile-etcd.ts';
import type { EtcdStep } from './steps.ts';

/** A report, and whether it was made for the goal that was handed in last. */
export interface CurrentReport extends EtcdReport {
  readonly isCurrent: boolean;
}

/** Looks after one etcd cluster beside the passes. */
export interface EtcdLoop {
  /** What was seen last; undefined until something was. */
  report(): EtcdReport | undefined;
  /**
   * Begins to look after the cluster, or goes on with this task from now on. Waits a moment for the first report on it;
   * another pass comes whenever a report says something else.
   */
  look(task: EtcdTask): Promise<CurrentReport | undefined>;
  /** Leaves the cluster alone until the next `look`; resolves when the step that is under way has ended. */
  stop(): Promise<void>;
}

export interface EtcdCaresOptions {
  readonly clock: Clock;
  /** Hears of the key of a control plane about whose etcd there is something new. */
  readonly onChange: (key: string) => void;
  /** By default members are dialled. */
  readonly open?: OpenEtcdLoopAccess | undefined;
}

/** A member that gives no answer keeps a look waiting for seconds, and a worker slot is not to wait with it. */
const graceMs = 250;
/** Between two looks at a cluster that is as it should be. What Kubernetes knows of it leads to a look at once. */
const restMs = 30_000;
const firstRetryMs = 500;

interface Entry {
  task: EtcdTask;
  /** What the task depends on, as text to compare. */
  inputsKey: string;
  /** The goal and the basis of the newest report. */
  reportedDesiredState: unknown;
  reportedInputsKey: string | undefined;
  report: EtcdReport | undefined;
  /** The basis that a pass has waited for in vain. */
  lateInputsKey: string | undefined;
  /** The defragmentation that has not ended, why the last one failed, and when one ended well. */
  inProgress: EtcdObservation['inProgress'];
  defragmentationProblem: string | undefined;
  defragmentedAt: Date | undefined;
  readonly controller: AbortController;
  wake: () => void;
  tell: () => void;
  ended: Promise<void>;
}

/** All etcd clusters that are looked after, each by a loop of its own. */
export class EtcdLoops {
  readonly #options: EtcdCaresOptions;
  readonly #open: OpenEtcdLoopAccess;
  readonly #entries = new Map<string, Entry>();

  constructor(options: EtcdCaresOptions) {
    this.#options = options;
    this.#open = options.open ?? openEtcd;
  }

  /** The care of one cluster, by the key of its HostedControlPlane. */
  of(key: string): EtcdLoop {
    return {
      report: () => this.#entries.get(key)?.report,
      look: (task) => this.#look(key, task),
      stop: () => this.forget(key),
    };
  }

  /** Leaves a cluster alone, and drops what is known of it. */
  async forget(key: string): Promise<void> {
    const entry = this.#entries.get(key);
    this.#entries.delete(key);
    entry?.controller.abort();
    await entry?.ended;
  }

  /** Leaves all clusters alone. */
  async close(): Promise<void> {
    await Promise.all([...this.#entries.keys()].map((key) => this.forget(key)));
  }

  async #look(key: string, task: EtcdTask): Promise<CurrentReport | undefined> {
    const entry = this.#entries.get(key) ?? this.#begin(key, task);
    const inputsKey = inputsKeyOf(task);
    entry.task = task;
    if (entry.inputsKey !== inputsKey) {
      entry.inputsKey = inputsKey;
      entry.wake();
    }
    if (entry.reportedInputsKey !== inputsKey && entry.lateInputsKey !== inputsKey) {
      const over = new AbortController();
      entry.tell = () => entry.reportedInputsKey === inputsKey && over.abort();
      await pause(this.#options.clock, graceMs, over.signal);
      entry.lateInputsKey = inputsKey;
    }
    const { report, reportedDesiredState } = entry;
    return report && { ...report, isCurrent: isDeepStrictEqual(reportedDesiredState, task.goal) };
  }

  #begin(key: string, task: EtcdTask): Entry {
    const entry: Entry = {
      task,
      inputsKey: inputsKeyOf(task),
      reportedDesiredState: undefined,
      reportedInputsKey: undefined,
      report: undefined,
      lateInputsKey: undefined,
      inProgress: undefined,
      defragmentationProblem: undefined,
      defragmentedAt: undefined,
      controller: new AbortController(),
      wake: () => {},
      tell: () => {},
      ended: Promise.resolve(),
    };
    this.#entries.set(key, entry);
    entry.ended = this.#run(key, entry);
    return entry;
  }

  async #run(key: string, entry: Entry): Promise<void> {
    const { signal } = entry.controller;
    let retryMs = firstRetryMs;
    let last: EtcdStep | undefined;
    while (!signal.aborted) {
      const { task, inputsKey, report, inProgress } = entry;
      const before = report && significance(report);
      const step = await reconcileEtcd(task, {
        open: this.#open,
        tell: (seen) => this.#tell(key, entry, { task, inputsKey, seen }),
        signal,
        inProgress,
        defragment: (member) => void this.#defragment(entry, member),
      }).catch((error: unknown) => this.#fail(key, entry, messageOf(error)));
      if (signal.aborted) return;
      const isNew = step !== undefined && !isDeepStrictEqual(step, last);
      // Rounds during a defragmentation are not remembered: one that frees nothing would follow itself at once.
      if (step || !inProgress) last = step;
      const hasChanged =
        isNew || entry.inputsKey !== inputsKey || before !== (entry.report && significance(entry.report));
      retryMs = hasChanged ? firstRetryMs : Math.min(restMs, retryMs * 2);
      if (isNew || entry.inputsKey !== inputsKey || entry.inProgress !== inProgress) continue;
      await this.#rest(entry, entry.report?.decision.kind === 'Settled' ? restMs : retryMs);
    }
  }

  #tell(
    key: string,
    entry: Entry,
    { task, inputsKey, seen }: { readonly task: EtcdTask; readonly inputsKey: string; readonly seen: EtcdReport },
  ): void {
    const problem = seen.problem ?? entry.defragmentationProblem;
    const report: EtcdReport = { ...seen, problem, defragmentedAt: entry.defragmentedAt };
    const isNews = entry.report === undefined || significance(entry.report) !== significance(report);
    const wasFor = entry.reportedDesiredState;
    Object.assign(entry, {
      report,
      reportedDesiredState: task.goal,
      reportedInputsKey: inputsKey,
    } satisfies Partial<Entry>);
    entry.tell();
    if (isNews || !isDeepStrictEqual(wasFor, task.goal)) this.#options.onChange(key);
  }

  /** What was seen before still counts; the next round may go well. */
  #fail(key: string, entry: Entry, problem: string): undefined {
    if (!entry.report || entry.report.problem === problem) return;
    entry.report = { ...entry.report, problem };
    this.#options.onChange(key);
  }

  /** Beside the rounds, which go on to see what becomes of the members. etcd ends it, also when this process does not. */
  async #defragment(entry: Entry, member: string): Promise<void> {
    const access = this.#open(entry.task.cluster, entry.task.reader);
    entry.inProgress = { act: 'defragmentation', member };
    try {
      const client = access.clients(member);
      if (!client) throw new Error(`etcd member ${member} cannot be reached: it has no pod`);
      await client.defragment();
      entry.defragmentedAt = new Date(this.#options.clock.now());
      entry.defragmentationProblem = undefined;
    } catch (error) {
      entry.defragmentationProblem = messageOf(error);
    } finally {
      access.close();
      entry.inProgress = undefined;
      entry.wake();
    }
  }

  async #rest(entry: Entry, delayMs: number): Promise<void> {
    const awake = new AbortController();
    entry.wake = () => awake.abort();
    const { signal } = entry.controller;
    await pause(this.#options.clock, delayMs, AbortSignal.any([awake.signal, signal]));
    entry.wake = () => {};
  }
}

/** Everything in the management cluster that a look at etcd depends on. */
function inputsKeyOf({ cluster, goal, reader }: EtcdTask): string {
  const { pods, claims } = watchedMemberObjects(cluster, reader);
  return JSON.stringify([
    goal,
    pods.map(({ metadata, status }) => [
      metadata.uid,
      metadata.deletionTimestamp,
      status?.podIP,
      status?.containerStatuses?.map(({ state, ready }) => [state?.running, ready]),
    ]),
    claims.map(({ metadata, status }) => [
      metadata.uid,
      metadata.deletionTimestamp,
      metadata.annotations,
      status?.phase,
    ]),
  ]);
}
