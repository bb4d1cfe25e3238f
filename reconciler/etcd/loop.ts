import { isDeepStrictEqual } from 'node:util';
import { type Clock, pause } from '../kube/clock.ts';
import { messageOf } from '../kube/error-message.ts';
import { isReady } from '../kube/readiness.ts';
import { type EtcdAccess, type OpenEtcd, openEtcd } from './access.ts';
import { watchedMemberObjects } from './member-objects.ts';
import type { EtcdObservation } from './members.ts';
import { type EtcdReport, reportFingerprint } from './report.ts';
import type { LoopMemberClient } from './observe-members.ts';
import { reconcileEtcd, type EtcdTask } from './reconcile-etcd.ts';
import type { EtcdStep } from './steps.ts';
import { detached } from '../kube/span.ts';

/** A report, and whether it was made for the desired state that was passed last. */
export interface CurrentReport extends EtcdReport {
  readonly isCurrent: boolean;
}

/** Manages one etcd cluster, independent of reconciles. */
export interface EtcdLoop {
  /** The latest report; undefined before the first one. */
  report(): EtcdReport | undefined;
  /**
   * Starts to manage the cluster, or continues with this task. Waits briefly for the first report on it. Another
   * reconcile follows whenever a report has changed.
   */
  observe(task: EtcdTask): Promise<CurrentReport | undefined>;
  /** Stops managing the cluster until the next `observe`. Resolves when the step in progress has ended. */
  stop(): Promise<void>;
}

interface EtcdLoopsOptions {
  readonly clock: Clock;
  /** Called with the key of a control plane when the report on its etcd has changed. */
  readonly onChange: (key: string) => void;
  /** Notes that a round for a control plane begins. @returns notes that it has ended */
  readonly take?: ((key: string, isTask: boolean) => () => void) | undefined;
  /** By default the operator dials the members. */
  readonly open?: OpenEtcd<LoopMemberClient> | undefined;
}

/**
 * How long `observe` waits for a report. A member that does not answer takes seconds, and a worker must not wait for it.
 */
const graceMs = 250;
/**
 * Intervals of observations of a cluster that is in its desired state. Each is twice the one before while nothing changes; a change in
 * the management cluster triggers an observation immediately. It costs a TLS handshake with each member.
 */
const idleMs = 30_000;
const longestIdleMs = 5 * 60_000;
/** Percent of its quota from which on a database is watched closely. */
const closelyFrom = 70;
const firstRetryMs = 500;

interface Entry {
  task: EtcdTask;
  /** The inputs of the task, as text to compare. */
  inputsKey: string;
  /** The desired state and the inputs of the latest report. */
  reportedDesiredState?: unknown;
  reportedInputsKey?: string | undefined;
  report?: EtcdReport | undefined;
  /** The inputs for whose report a reconcile has waited until the timeout. */
  lateInputsKey?: string | undefined;
  /** The defragmentation in progress, why the last one failed, and when one was last attempted and last succeeded. */
  inProgress?: EtcdObservation['inProgress'];
  defragmentationProblem?: string | undefined;
  defragmentationAttemptedAt?: Date | undefined;
  defragmentedAt?: Date | undefined;
  readonly controller: AbortController;
  wake: () => void;
  onReport: () => void;
  ended: Promise<void>;
}

/** The loops of all etcd clusters. */
export class EtcdLoops {
  readonly #options: EtcdLoopsOptions;
  readonly #open: OpenEtcd<LoopMemberClient>;
  readonly #entries = new Map<string, Entry>();
  /** All rounds and defragmentations that have not ended, those of forgotten clusters included. */
  readonly #running = new Set<Promise<void>>();

  constructor(options: EtcdLoopsOptions) {
    this.#options = options;
    this.#open = options.open ?? openEtcd;
  }

  /** The loop of one cluster, by the key of its HostedControlPlane. */
  of(key: string): EtcdLoop {
    return {
      report: () => this.#entries.get(key)?.report,
      observe: (task) => this.#observe(key, task),
      stop: () => this.forget(key),
    };
  }

  /** Stops managing a cluster, and forgets its state. */
  async forget(key: string): Promise<void> {
    const entry = this.#entries.get(key);
    this.#entries.delete(key);
    entry?.controller.abort();
    await entry?.ended;
  }

  /** Stops managing all clusters. Resolves when every step in progress has ended. */
  async close(): Promise<void> {
    for (const key of this.#entries.keys()) void this.forget(key);
    await Promise.all(this.#running);
  }

  async #observe(key: string, task: EtcdTask): Promise<CurrentReport | undefined> {
    const entry = this.#entries.get(key) ?? this.#begin(key, task);
    const inputsKey = inputsKeyOf(task);
    entry.task = task;
    if (entry.inputsKey !== inputsKey) {
      entry.inputsKey = inputsKey;
      entry.wake();
    }
    if (entry.reportedInputsKey !== inputsKey && entry.lateInputsKey !== inputsKey) {
      const over = new AbortController();
      entry.onReport = () => entry.reportedInputsKey === inputsKey && over.abort();
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
      controller: new AbortController(),
      wake: () => {},
      onReport: () => {},
      ended: Promise.resolve(),
    };
    this.#entries.set(key, entry);
    entry.ended = this.#track(detached(() => this.#run(key, entry)));
    return entry;
  }

  #track(work: Promise<void>): Promise<void> {
    const ended = work.finally(() => this.#running.delete(ended));
    this.#running.add(ended);
    return ended;
  }

  async #run(key: string, entry: Entry): Promise<void> {
    const { signal } = entry.controller;
    let retryMs = firstRetryMs;
    let restMs = idleMs;
    let last: EtcdStep | undefined;
    while (!signal.aborted) {
      const { task, inputsKey, report, inProgress } = entry;
      const before = report && reportFingerprint(report);
      const release = this.#options.take?.(key, false);
      const step = await reconcileEtcd(task, {
        open: this.#open,
        report: (seen) => this.#emit(key, entry, { task, inputsKey, seen }),
        signal,
        inProgress,
        previous: report?.observation,
        defragment: (member) => void this.#track(this.#defragment(entry, member)),
      }).catch((error: unknown) => this.#fail(key, entry, messageOf(error)));
      release?.();
      if (signal.aborted) return;
      const isNew = step !== undefined && !isDeepStrictEqual(step, last);
      // Rounds during a defragmentation are not remembered. Otherwise a defragmentation that frees nothing would
      // immediately follow itself.
      if (step || !inProgress) last = step;
      const hasChanged =
        isNew || entry.inputsKey !== inputsKey || before !== (entry.report && reportFingerprint(entry.report));
      retryMs = hasChanged ? firstRetryMs : Math.min(idleMs, retryMs * 2);
      if (isNew || entry.inputsKey !== inputsKey || entry.inProgress !== inProgress) continue;
      const { decision, problem, quotaUsage = closelyFrom } = entry.report ?? {};
      const isCalm =
        !hasChanged && problem === undefined && quotaUsage === report?.quotaUsage && quotaUsage < closelyFrom;
      restMs = isCalm ? Math.min(longestIdleMs, restMs * 2) : idleMs;
      await this.#wait(entry, decision?.kind === 'settled' ? restMs : retryMs);
    }
  }

  #emit(
    key: string,
    entry: Entry,
    { task, inputsKey, seen }: { readonly task: EtcdTask; readonly inputsKey: string; readonly seen: EtcdReport },
  ): void {
    const problem = seen.problem ?? entry.defragmentationProblem;
    const { defragmentationAttemptedAt, defragmentedAt } = entry;
    const report: EtcdReport = { ...seen, problem, defragmentationAttemptedAt, defragmentedAt };
    const isChanged = entry.report === undefined || reportFingerprint(entry.report) !== reportFingerprint(report);
    const previousState = entry.reportedDesiredState;
    Object.assign(entry, {
      report,
      reportedDesiredState: task.goal,
      reportedInputsKey: inputsKey,
    } satisfies Partial<Entry>);
    entry.onReport();
    if (isChanged || !isDeepStrictEqual(previousState, task.goal)) this.#options.onChange(key);
  }

  /** The last observation stays valid, because the next round may succeed. */
  #fail(key: string, entry: Entry, problem: string): undefined {
    if (!entry.report || entry.report.problem === problem) return;
    entry.report = { ...entry.report, problem };
    this.#options.onChange(key);
  }

  /** Runs beside the rounds, which continue to observe the members. etcd completes it even if this process ends. */
  async #defragment(entry: Entry, member: string): Promise<void> {
    entry.inProgress = { act: 'defragmentation', member };
    let access: EtcdAccess<LoopMemberClient> | undefined;
    entry.defragmentationAttemptedAt = new Date(this.#options.clock.now());
    try {
      access = this.#open(entry.task.cluster, entry.task.reader);
      const client = access.clients(member);
      if (!client) throw new Error(`etcd member ${member} cannot be reached: it has no pod`);
      await client.defragment();
      entry.defragmentedAt = new Date(this.#options.clock.now());
      entry.defragmentationProblem = undefined;
    } catch (error) {
      entry.defragmentationProblem = messageOf(error);
    } finally {
      access?.close();
      entry.inProgress = undefined;
      entry.wake();
    }
  }

  async #wait(entry: Entry, delayMs: number): Promise<void> {
    const awake = new AbortController();
    entry.wake = () => awake.abort();
    const { signal } = entry.controller;
    await pause(this.#options.clock, delayMs, AbortSignal.any([awake.signal, signal]));
    entry.wake = () => {};
  }
}

/** Everything in the management cluster that an observation of etcd depends on. */
function inputsKeyOf({ cluster, goal, reader }: EtcdTask): string {
  const { pods, claims } = watchedMemberObjects(cluster, reader);
  return JSON.stringify([
    goal,
    pods.map((pod) => [
      pod.metadata.uid,
      pod.metadata.deletionTimestamp,
      pod.status?.podIP,
      pod.status?.containerStatuses?.map(({ state, ready }) => [state?.running, ready]),
      // Of a node that does not report, or reports again, nothing else says so.
      isReady(pod),
    ]),
    claims.map(({ metadata, status }) => [
      metadata.uid,
      metadata.deletionTimestamp,
      metadata.annotations,
      status?.phase,
    ]),
  ]);
}
