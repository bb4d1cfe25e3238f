import type { Clock } from './clock.ts';
import { KubeError } from './errors.ts';

/** How much text of answers may be in memory before it is parsed. */
export interface AnswerLimits {
  /** Of all servers together. */
  readonly bytes: number;
  /** Of one server. As much as its longest answer may have, at least. */
  readonly bytesPerServer: number;
  /** What each server may have although others fill the rest: ordinary answers never wait. */
  readonly freeBytes: number;
  /** After so long without room, the largest text is given up. */
  readonly patienceMs: number;
}

/** One answer, or one line of a watch, that is being read. */
export interface HeldText {
  /** So many bytes of it are in memory from now on. Resolves when there is room for them. @throws KubeError when it is given up */
  hold(bytes: number): Promise<void>;
  /** None of it is in memory any more. */
  release(): void;
}

/** The answers of one server. */
export interface ServerAnswers {
  /**
   * @param giveUp called when the text takes too much room for too long: end its stream
   * @param signal ends waits
   */
  open(giveUp: (error: Error) => void, signal: AbortSignal): HeldText;
}

/**
 * The room for all answers that several servers are sending. Text that finds no room stays with its server, which has to wait. A
 * server that sends slowly, or much, cannot keep others waiting: the largest text of the server with the most is given up first.
 */
export class AnswerBudget {
  readonly limits: AnswerLimits;
  readonly #clock: Pick<Clock, 'setTimer'>;
  readonly #servers = new Set<Server>();
  readonly #waiting = new Set<Text>();
  #cancelTimer: (() => void) | undefined;

  constructor(limits: AnswerLimits, clock: Pick<Clock, 'setTimer'>) {
    this.limits = limits;
    this.#clock = clock;
  }

  /** The share of one server. */
  server(): ServerAnswers {
    return new Server(this);
  }

  /** Bytes of all texts. */
  get bytes(): number {
    return [...this.#servers].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Whether there is room for more bytes of this server. */
  fits(server: Server, more: number): boolean {
    const { bytes, bytesPerServer, freeBytes } = this.limits;
    const own = server.bytes + more;
    return own <= freeBytes || (own <= bytesPerServer && this.bytes + more <= bytes);
  }

  wait(text: Text): void {
    this.#waiting.add(text);
    this.#cancelTimer ??= this.#clock.setTimer(this.limits.patienceMs, () => this.#giveUpLargest());
  }

  /** A text of the server has become longer or shorter, or has ended. */
  changed(server: Server, text: Text): void {
    if (server.texts.size > 0) this.#servers.add(server);
    else this.#servers.delete(server);
    this.#waiting.delete(text);
  }

  /** Lets those read on that have room now, those of the server with the least first. */
  wake(): void {
    for (const text of [...this.#waiting].toSorted((one, other) => one.server.bytes - other.server.bytes))
      text.tryAgain();
    if (this.#waiting.size > 0) return;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #giveUpLargest(): void {
    this.#cancelTimer = undefined;
    const [first] = this.#waiting;
    if (!first) return;
    const fillsOwn = first.server.bytes + first.wanted > this.limits.bytesPerServer;
    const fullest = fillsOwn ? first.server : largest(this.#servers);
    largest(fullest?.texts ?? [])?.giveUp();
    const [next] = this.#waiting;
    if (next) this.wait(next);
  }
}

class Server implements ServerAnswers {
  readonly budget: AnswerBudget;
  readonly texts = new Set<Text>();
  bytes = 0;

  constructor(budget: AnswerBudget) {
    this.budget = budget;
  }

  open(giveUp: (error: Error) => void, signal: AbortSignal): HeldText {
    const text = new Text(this, giveUp);
    signal.addEventListener('abort', () => text.release(), { once: true });
    return text;
  }
}

class Text implements HeldText {
  readonly server: Server;
  readonly #giveUp: (error: Error) => void;
  #bytes = 0;
  #waits: (PromiseWithResolvers<void> & { readonly more: number }) | undefined;
  #given: Error | undefined;

  constructor(server: Server, giveUp: (error: Error) => void) {
    this.server = server;
    this.#giveUp = giveUp;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes that it waits for. */
  get wanted(): number {
    return this.#waits?.more ?? 0;
  }

  async hold(bytes: number): Promise<void> {
    if (this.#given) throw this.#given;
    const more = bytes - this.#bytes;
    if (more <= 0 || this.server.budget.fits(this.server, more)) return this.#grow(more);
    this.#waits = { ...Promise.withResolvers<void>(), more };
    this.server.texts.add(this);
    this.server.budget.changed(this.server, this);
    this.server.budget.wait(this);
    return this.#waits.promise;
  }

  tryAgain(): void {
    const waits = this.#waits;
    if (!waits || !this.server.budget.fits(this.server, waits.more)) return;
    this.#waits = undefined;
    this.#grow(waits.more);
    waits.resolve();
  }

  giveUp(): void {
    const { bytes, bytesPerServer } = this.server.budget.limits;
    const rooms = `${bytesPerServer / 1024 / 1024} MiB of one API server and ${bytes / 1024 / 1024} MiB of all`;
    const message = `an answer of ${this.#bytes} bytes was given up, because the operator reads no more than ${rooms} at the same time`;
    this.#given = new KubeError(message, { code: 0, reason: 'Timeout' });
    this.#giveUp(this.#given);
    this.release();
  }

  release(): void {
    this.#waits?.reject(this.#given ?? new Error('the answer is not read any more'));
    this.#waits = undefined;
    this.#grow(-this.#bytes);
  }

  #grow(more: number): void {
    const { server } = this;
    this.#bytes += more;
    server.bytes += more;
    if (this.#bytes > 0) server.texts.add(this);
    else server.texts.delete(this);
    server.budget.changed(server, this);
    if (more < 0) server.budget.wake();
  }
}

function largest<T extends { readonly bytes: number }>(all: Iterable<T>): T | undefined {
  return [...all].toSorted((one, other) => other.bytes - one.bytes)[0];
}
