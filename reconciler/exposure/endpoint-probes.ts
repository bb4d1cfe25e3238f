import { backOff } from '../kube/back-off.ts';
import { type Clock, pause } from '../kube/clock.ts';
import { answersKeptMs } from '../tasks/resync.ts';

/** What trying an endpoint has shown. */
export type ProbeResult =
  | { readonly kind: 'works' }
  | { readonly kind: 'fails'; readonly error: unknown; readonly retryAt?: Date | undefined }
  /** The first attempt has not ended; another pass comes when it has. */
  | { readonly kind: 'unknown' };

/** Tries whether the endpoint works, beside the pass when it takes long. */
export interface EndpointProbe {
  /**
   * The newest result. Makes a new attempt when that is due, and at once when what it depends on is not the same any more.
   */
  look(dependsOn: unknown, attempt: () => Promise<void>): Promise<ProbeResult>;
}

export interface EndpointProbesOptions {
  readonly clock: Clock;
  /** Hears of a result that came too late for the pass that asked for it. */
  readonly onResult: (key: string) => void;
}

/** An address that swallows packets keeps one waiting for seconds, and a worker slot is not to wait with it. */
const graceMs = 250;
const retries = { firstMs: 100, longestMs: 30_000 };

interface Entry {
  result: ProbeResult;
  /** What the result depends on, as text to compare. */
  inputsKey: string | undefined;
  /** When to ask again, if nothing changes before. */
  dueAt: number;
  /** Failures in a row. */
  failures: number;
  running: Attempt | undefined;
}

interface Attempt {
  readonly inputsKey: string;
  readonly ended: Promise<void>;
  isLate: boolean;
}

/**
 * Whether endpoints work, by trying. What worked is taken to work until the next attempt has shown otherwise; what failed
 * is tried again after 100 ms, and after twice as long each time, for nobody tells when a DNS record is made.
 */
export class EndpointProbes {
  readonly #options: EndpointProbesOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: EndpointProbesOptions) {
    this.#options = options;
  }

  /** The probe of one endpoint, by the key of its HostedControlPlane. */
  of(key: string): EndpointProbe {
    return { look: (dependsOn, attempt) => this.#look(key, JSON.stringify(dependsOn) ?? '', attempt) };
  }

  /** Drops what is known of an endpoint that is gone. */
  forget(key: string): void {
    this.#entries.delete(key);
  }

  async #look(key: string, inputsKey: string, attempt: () => Promise<void>): Promise<ProbeResult> {
    const { clock } = this.#options;
    const entry = this.#entries.get(key) ?? unknown();
    this.#entries.set(key, entry);
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
      // Another attempt has begun since, because something on the way has changed.
      if (entry.running !== running) return;
      const dueAt = this.#options.clock.now() + forMs;
      const noted = result.kind === 'fails' ? { ...result, retryAt: new Date(dueAt) } : result;
      Object.assign(entry, { result: noted, inputsKey, dueAt, failures, running: undefined } satisfies Entry);
      if (running.isLate) this.#options.onResult(key);
    };
    const ended = attempt().then(
      () => end({ kind: 'works' }, 0, answersKeptMs),
      (error: unknown) => {
        const failures = entry.inputsKey === inputsKey ? entry.failures + 1 : 1;
        const forMs = backOff(retries, failures);
        end({ kind: 'fails', error }, failures, forMs);
      },
    );
    const running: Attempt = { inputsKey, ended, isLate: false };
    entry.running = running;
  }
}

function unknown(): Entry {
  return { result: { kind: 'unknown' }, inputsKey: undefined, dueAt: 0, failures: 0, running: undefined };
}
