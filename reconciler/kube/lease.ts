import { Lease } from '../../constructs/api/resources.ts';
import type { KubeClient } from './client.ts';
import { jittered, pause, type Clock, type Random } from './clock.ts';
import {
  decideLease,
  observeLease,
  releasedLease,
  type LeaseDecision,
  type LeaseObject,
  type LeaseObservation,
  type LeaseTimes,
} from './lease-decision.ts';

/** What an election needs. */
export interface LeaderElectionOptions {
  readonly client: KubeClient;
  readonly name: string;
  readonly namespace: string;
  /** Who we are: unique per process, such as the pod's name. */
  readonly identity: string;
  readonly clock: Clock;
  /** By default Math.random. */
  readonly random?: Random;
  /** By default 15 s, 10 s and 2 s, as Kubernetes' own components have it. */
  readonly times?: LeaseTimes;
  readonly onAcquired: () => void;
  /** Leadership is gone without our will: stop writing at once. Another process may lead from now on. */
  readonly onLost: () => void;
  /** Hears every failed try; the election goes on. */
  readonly onError?: (error: unknown) => void;
}

const fieldManager = 'leader-election';
const kubernetesTimes: LeaseTimes = { durationMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };

/** Takes part in the election of a leader through a Lease. */
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

  /** Begins to take part, until `stop`. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Leaves. A leader hands the lease back, so that the next one need not wait for it to expire. */
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
    // The time from before the request counts: others measure from when the server got it.
    const now = clock.now();
    const options = { signal: this.#stopping.signal, deadlineMs: this.#callDeadlineMs() };
    const lease = await client.find<LeaseObject>(Lease, { namespace, name }, options);
    this.#observation = observeLease(lease, this.#observation, now);
    this.#resourceVersion = lease?.metadata.resourceVersion;
    const decision = decideLease(lease, this.#observation, identity, now, this.#times);
    if (decision.type === 'wait') return this.#lose();
    await this.#write(decision);
    this.#hold(now);
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

  /** Writes only onto the version we have seen: of two candidates that want it at once one gets a conflict. */
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

  #hold(renewedAt: number): void {
    const { clock, onAcquired } = this.#options;
    this.#cancelDeadline();
    // A timer of its own: a request that hangs must not keep us from noticing that the time is up.
    const remainingMs = renewedAt + this.#times.renewDeadlineMs - clock.now();
    this.#cancelDeadline = clock.setTimer(remainingMs, () => this.#lose());
    if (this.#isLeader) return;
    this.#isLeader = true;
    // A last request may succeed while `stop` waits for it: then there is something to hand back but nothing to begin.
    if (!this.#stopping.signal.aborted) onAcquired();
  }

  #lose(): void {
    this.#cancelDeadline();
    if (!this.#isLeader) return;
    this.#isLeader = false;
    this.#options.onLost();
  }

  /** One try must leave time for another before the renew deadline. */
  #callDeadlineMs(): number {
    return Math.max(1, this.#times.renewDeadlineMs / 2);
  }

  #report(error: unknown): void {
    if (!this.#stopping.signal.aborted) this.#options.onError?.(error);
  }
}
