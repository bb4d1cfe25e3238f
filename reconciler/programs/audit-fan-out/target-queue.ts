import type { Records } from './event-list.ts';

/** The end of one attempt to send records. */
export type Attempt =
  | { readonly kind: 'delivered' }
  /** The receiver will never take these records. */
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'failed'; readonly why: string };

/** Why records were dropped. `full`: newer ones took their place. */
export type DropReason = 'full' | 'refused' | 'failed';

export interface TargetQueueOptions {
  readonly send: (lists: readonly Records[]) => Promise<Attempt>;
  /** Bytes of records that wait. The oldest ones are dropped for newer ones. */
  readonly limitBytes: number;
  /** Bytes of records in one request, unless a single list has more. */
  readonly requestBytes: number;
  /** Whether records wait for another attempt after a failed one. */
  readonly retries: boolean;
  /** Milliseconds to wait after this many failures in a row. */
  readonly backOffMs: (failures: number) => number;
  readonly onDelivered: (records: number) => void;
  readonly onDropped: (records: number, reason: DropReason) => void;
  /** Called for the first failure in a row with its cause, and without one when the receiver works again. */
  readonly onHealth: (problem: string | undefined) => void;
}

interface Entry {
  readonly records: Records;
  /** Ends the wait of the sender; later calls do nothing. */
  readonly settle: (isDelivered: boolean) => void;
}

/**
 * The records for one receiver, sent in order, one request at a time. What arrives meanwhile is sent together with the next
 * request, so that a receiver with a long way gets as much as one nearby.
 */
export class TargetQueue {
  readonly #options: TargetQueueOptions;
  #entries: Entry[] = [];
  #bytes = 0;
  /** How many of the first entries are on their way. */
  #sending = 0;
  /** How many of the first entries are sent on their own, because the receiver has refused them together. */
  #alone = 0;
  #failures = 0;
  #isRunning = false;
  #isEnding = false;
  #onEmpty: (() => void) | undefined;
  /** Ends the wait after a failure; undefined while there is none. */
  #wake: (() => void) | undefined;

  constructor(options: TargetQueueOptions) {
    this.#options = options;
  }

  /** Bytes and number of records that wait. */
  get waiting(): { readonly bytes: number; readonly records: number } {
    return { bytes: this.#bytes, records: sum(this.#entries) };
  }

  /**
   * Adds records. The result is true when the receiver has taken them, and false after the first attempt that fails, also if
   * they stay in the queue; at once while the queue waits after a failure.
   */
  offer(records: Records): Promise<boolean> {
    return new Promise((settle) => {
      this.#entries.push({ records, settle });
      this.#bytes += records.items.length;
      this.#makeRoom();
      if (this.#wake) settle(false);
      if (!this.#isRunning) void this.#run();
    });
  }

  /** Sends what is queued without long waits. Resolves when nothing is left, or with the time. */
  async end(time: Promise<unknown>): Promise<void> {
    this.#isEnding = true;
    this.#wake?.();
    if (this.#entries.length === 0) return;
    await Promise.race([time, new Promise<void>((resolve) => (this.#onEmpty = resolve))]);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#entries.length > 0) {
      const sending = this.#next();
      this.#sending = sending.length;
      const attempt = await this.#options.send(sending.map(({ records }) => records));
      this.#sending = 0;
      await this.#conclude(sending, attempt);
    }
    this.#isRunning = false;
    this.#onEmpty?.();
  }

  /** The first entries that fit into one request, at least one. */
  #next(): Entry[] {
    if (this.#alone > 0) return this.#entries.slice(0, 1);
    let bytes = 0;
    const end = this.#entries.findIndex(({ records }, index) => {
      bytes += records.items.length;
      return index > 0 && bytes > this.#options.requestBytes;
    });
    return this.#entries.slice(0, end < 0 ? undefined : end);
  }

  async #conclude(sending: readonly Entry[], attempt: Attempt): Promise<void> {
    const { onDelivered, onHealth, retries } = this.#options;
    if (attempt.kind === 'refused' && sending.length > 1) {
      this.#alone = sending.length;
      return;
    }
    if (attempt.kind !== 'failed') {
      this.#remove(sending.length);
      if (this.#failures > 0) onHealth(undefined);
      this.#failures = 0;
      if (attempt.kind === 'delivered') onDelivered(sum(sending));
      else this.#drop(sending, 'refused');
      for (const { settle } of sending) settle(attempt.kind === 'delivered');
      return;
    }
    this.#failures += 1;
    if (this.#failures === 1) onHealth(attempt.why);
    if (retries) return this.#backOff();
    this.#remove(sending.length);
    this.#drop(sending, 'failed');
    for (const { settle } of sending) settle(false);
  }

  async #backOff(): Promise<void> {
    for (const { settle } of this.#entries) settle(false);
    const milliseconds = this.#options.backOffMs(this.#isEnding ? 1 : this.#failures);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }

  /** Drops the oldest records that are not on their way. */
  #makeRoom(): void {
    const first = this.#sending;
    while (this.#bytes > this.#options.limitBytes && this.#entries.length > first + 1) {
      const dropped = this.#entries.splice(first, 1);
      this.#bytes -= bytesOf(dropped);
      if (this.#alone > first) this.#alone -= 1;
      this.#drop(dropped, 'full');
      for (const { settle } of dropped) settle(false);
    }
  }

  #remove(count: number): void {
    this.#bytes -= bytesOf(this.#entries.splice(0, count));
    this.#alone = Math.max(0, this.#alone - count);
  }

  #drop(entries: readonly Entry[], reason: DropReason): void {
    this.#options.onDropped(sum(entries), reason);
  }
}

function sum(entries: readonly Entry[]): number {
  return entries.reduce((total, { records }) => total + records.count, 0);
}

function bytesOf(entries: readonly Entry[]): number {
  return entries.reduce((total, { records }) => total + records.items.length, 0);
}
