import type { LeaseObject } from '../../imports/kubernetes.ts';
import { Lease } from '../../constructs/api/resources.ts';
import type { KubernetesApi } from './client.ts';
import { isConflict, isNotFound } from './errors.ts';
import { jittered, pause, type Clock, type Random } from './clock.ts';
import {
  decideLease,
  type Moment,
  renewedLease,
  observeLease,
  releasedLease,
  type LeaseDecision,
  type LeaseObservation,
  type LeaseTimes,
} from './lease-decision.ts';

/** Options of an election. */
export interface LeaderElectionOptions {
  readonly client: Pick<KubernetesApi, 'find' | 'create' | 'mergePatch'>;
  readonly name: string;
  readonly namespace: string;
  /** Identity of the candidate, unique per process, such as the name of the pod. */
  readonly identity: string;
  readonly clock: Clock;
  /** By default Math.random. */
  readonly random?: Random;
  /** By default 15 s, 10 s and 2 s, as in Kubernetes' own components. */
  readonly times?: LeaseTimes;
  readonly onAcquired: () => void;
  /** Called when leadership was lost: stop writing immediately. Another process may lead from now on. */
  readonly onLost: () => void;
  /** Called for every failed attempt. The election continues. */
  readonly onError?: (error: unknown) => void;
}

const fieldManager = 'leader-election';
const kubernetesTimes: LeaseTimes = { durationMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };

/** A candidate in a leader election through a Lease. */
export class LeaderElection {
  readonly #options: LeaderElectionOptions;
  readonly #times: LeaseTimes;
  readonly #random: Random;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #observation: LeaseObservation | undefined;
  #isLeader = false;
  #resourceVersion: string | undefined;
  #cancelDeadline: () => void = () => {};

  constructor(options: LeaderElectionOptions) {
    this.#options = options;
    this.#times = options.times ?? kubernetesTimes;
    this.#random = options.random ?? Math.random;
  }

  get isLeader(): boolean {
    return this.#isLeader;
  }

  /** Participates until `stop`. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Stops. A leader releases the lease, so that the next one does not have to wait until it expires. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    if (!this.#isLeader) return;
    this.#isLeader = false;
    this.#cancelDeadline();
    await this.#patch(releasedLease(this.#options.clock.now())).catch((error: unknown) => this.#report(error));
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#tryOnce().catch((error: unknown) => this.#report(error));
      await pause(this.#options.clock, jittered(this.#times.retryMs, this.#random), signal);
    }
  }

  async #tryOnce(): Promise<void> {
    const { client, clock, identity, namespace, name } = this.#options;
    // Use the time before the request, because others measure from the time at which the server received it.
    const moment = { now: clock.now(), elapsed: clock.elapsed() };
    if (await this.#renewAsWritten(moment)) return;
    const options = { signal: this.#stopping.signal, deadlineMs: this.#callDeadlineMs() };
    const lease = await client.find<LeaseObject>(Lease, { namespace, name }, options);
    this.#observation = observeLease(lease, this.#observation, moment.elapsed);
    this.#resourceVersion = lease?.metadata.resourceVersion;
    const decision = decideLease(lease, this.#observation, identity, moment, this.#times);
    if (decision.type === 'wait') return this.#lose();
    await this.#write(decision);
    this.#hold(moment.elapsed);
  }

  /**
   * Renews the lease that this leader has written last, without reading it: on a busy machine each request takes long. If another client
   * has written or deleted it since, this fails, and it is read.
   */
  async #renewAsWritten({ now, elapsed }: Moment): Promise<boolean> {
    if (!this.#isLeader || this.#resourceVersion === undefined) return false;
    try {
      await this.#patch(renewedLease(this.#options.identity, now, this.#times));
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) return false;
      throw error;
    }
    this.#hold(elapsed);
    return true;
  }

  async #write(decision: Exclude<LeaseDecision, { type: 'wait' }>): Promise<void> {
    const { client, namespace, name } = this.#options;
    if (decision.type !== 'create') return this.#patch(decision.spec);
    const lease: LeaseObject = {
      apiVersion: Lease.apiVersion,
      kind: Lease.kind,
      metadata: { namespace, name },
      spec: decision.spec,
    };
    const options = { fieldManager, signal: this.#stopping.signal, deadlineMs: this.#callDeadlineMs() };
    this.#resourceVersion = (await client.create(lease, options)).metadata.resourceVersion;
  }

  /** Writes only if the version has not changed: of two concurrent candidates, one gets a conflict. */
  async #patch(spec: object): Promise<void> {
    const { client, namespace, name } = this.#options;
    const options = {
      fieldManager,
      resourceVersion: this.#resourceVersion,
      deadlineMs: this.#callDeadlineMs(),
    };
    const lease = await client.mergePatch(Lease, { namespace, name }, { spec }, options);
    this.#resourceVersion = lease.metadata.resourceVersion;
  }

  /** @param renewedAt in the time of {@link Clock.elapsed} */
  #hold(renewedAt: number): void {
    const { clock, onAcquired } = this.#options;
    this.#cancelDeadline();
    // A separate timer, because a hanging request must not delay the loss of leadership.
    const remainingMs = renewedAt + this.#times.renewDeadlineMs - clock.elapsed();
    this.#cancelDeadline = clock.setTimer(remainingMs, () => this.#lose());
    if (this.#isLeader) return;
    this.#isLeader = true;
    // A last request may succeed while `stop` waits for it. The lease then has to be released, but nothing started.
    if (!this.#stopping.signal.aborted) onAcquired();
  }

  #lose(): void {
    this.#cancelDeadline();
    if (!this.#isLeader) return;
    this.#isLeader = false;
    this.#options.onLost();
  }

  /** One attempt must leave time for another before the renew deadline. */
  #callDeadlineMs(): number {
    return Math.max(1, this.#times.renewDeadlineMs / 2);
  }

  #report(error: unknown): void {
    if (!this.#stopping.signal.aborted) this.#options.onError?.(error);
  }
}
