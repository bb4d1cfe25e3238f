import { backOff } from '../../kube/back-off.ts';
import { type Clock, pause } from '../../kube/clock.ts';
import { answersKeptMs } from '../../engine/tasks/resync.ts';

/** Result of an endpoint probe. */
export type ProbeResult =
  | { readonly kind: 'works' }
  | {
      readonly kind: 'fails';
      readonly error: unknown;
      readonly retryAt?: Date | undefined;
      /** When the first attempt with these inputs failed. */
      readonly since?: Date | undefined;
    }
  /** The first attempt is in progress; another reconcile follows when it has ended. */
  | { readonly kind: 'unknown' };

/** Probes the endpoint, in the background when it takes long. */
export interface EndpointProbe {
  /** Returns the newest result. Starts a new attempt when it is due, and immediately when the inputs have changed. */
  probe(dependsOn: unknown, attempt: () => Promise<void>): Promise<ProbeResult>;
}

export interface EndpointProbesOptions {
  readonly clock: Clock;
  /** Called when a result arrives too late for the reconcile that requested it. */
  readonly onResult: (key: string) => void;
}

/**
 * How long a reconcile waits for a result. An address that drops packets takes seconds, which must not block a worker.
 */
const graceMs = 250;
const firstRetryMs = 100;

/** What is probed, with the longest time between two failed attempts. Only few programs need the tunnel. */
const longestRetryMs = { endpoint: 30_000, tunnel: 5 * 60_000, agents: 60_000 } as const;
type Probed = keyof typeof longestRetryMs | `pods of ${string}`;

/** Of pods that were refused. */
const longestPodsRetryMs = 30_000;

interface Entry {
  result: ProbeResult;
  /** Inputs of the result, as text to compare. */
  inputsKey: string | undefined;
  /** Time of the next attempt, unless an input changes before. */
  dueAt: number;
  /** Consecutive failures. */
  failures: number;
  running: Attempt | undefined;
  readonly longestRetryMs: number;
}

interface Attempt {
  readonly inputsKey: string;
  readonly ended: Promise<void>;
  isLate: boolean;
}

/**
 * Probes whether endpoints work. A success is valid until the next attempt. A failure is retried after 100 ms and then
 * with doubled delays, because no event reports that a DNS record was created.
 */
export class EndpointProbes {
  readonly #options: EndpointProbesOptions;
  /** By the key of their HostedControlPlane. */
  readonly #entries = new Map<string, Map<Probed, Entry>>();

  constructor(options: EndpointProbesOptions) {
    this.#options = options;
  }

  /** The probe of one endpoint, by the key of its HostedControlPlane. */
  of(key: string, probed: Probed = 'endpoint'): EndpointProbe {
    return { probe: (dependsOn, attempt) => this.#probe(key, probed, JSON.stringify(dependsOn) ?? '', attempt) };
  }

  /** Drops the state of the endpoints of a HostedControlPlane that was deleted. */
  forget(key: string): void {
    this.#entries.delete(key);
  }

  async #probe(key: string, probed: Probed, inputsKey: string, attempt: () => Promise<void>): Promise<ProbeResult> {
    const { clock } = this.#options;
    const entries = this.#entries.get(key) ?? new Map<Probed, Entry>();
    const entry = entries.get(probed) ?? unknown(longestRetryOf(probed));
    this.#entries.set(key, entries.set(probed, entry));
    const isDue = entry.inputsKey !== inputsKey || clock.now() >= entry.dueAt;
    if (isDue && entry.running?.inputsKey !== inputsKey) this.#start(key, entry, inputsKey, attempt);

    const { running } = entry;
    if (running && !running.isLate) {
      const over = new AbortController();
      await Promise.race([running.ended, pause(clock, graceMs, over.signal)]);
      over.abort();
      running.isLate = true;
    }
    return entry.result;
  }

  #start(key: string, entry: Entry, inputsKey: string, attempt: () => Promise<void>): void {
    const end = (result: ProbeResult, failures: number, forMs: number): void => {
      // A newer attempt has started, because an input has changed.
      if (entry.running !== running) return;
      const dueAt = this.#options.clock.now() + forMs;
      const noted = result.kind === 'fails' ? { ...result, retryAt: new Date(dueAt) } : result;
      Object.assign(entry, { result: noted, inputsKey, dueAt, failures, running: undefined } satisfies Partial<Entry>);
      if (running.isLate) this.#options.onResult(key);
    };
    const ended = attempt().then(
      () => end({ kind: 'works' }, 0, answersKeptMs),
      (error: unknown) => {
        const before = entry.inputsKey === inputsKey ? entry : undefined;
        const failures = (before?.failures ?? 0) + 1;
        const since = before?.result.kind === 'fails' ? before.result.since : undefined;
        const forMs = backOff({ firstMs: firstRetryMs, longestMs: entry.longestRetryMs }, failures);
        end({ kind: 'fails', error, since: since ?? new Date(this.#options.clock.now()) }, failures, forMs);
      },
    );
    const running: Attempt = { inputsKey, ended, isLate: false };
    entry.running = running;
  }
}

function unknown(longestRetryMs: number): Entry {
  return {
    result: { kind: 'unknown' },
    inputsKey: undefined,
    dueAt: 0,
    failures: 0,
    running: undefined,
    longestRetryMs,
  };
}

function longestRetryOf(probed: Probed): number {
  return Object.entries(longestRetryMs).find(([name]) => name === probed)?.[1] ?? longestPodsRetryMs;
}
