import type { KubeObject } from '../../kube/object.ts';
import type { BackOff } from '../../kube/back-off.ts';
import type { Clock } from '../../kube/clock.ts';
import type { Logger } from '../../engine/log.ts';
import { afterEnd, afterSecondProcess, type Apart, type Conducts, isSuspect, takenOver } from './judge.ts';
import type { Left, Notes } from './notes.ts';
import { apartIn } from './report.ts';
import type { SecondProcess, StartSecondProcess } from './second-process.ts';

/** What may be done for a control plane now. */
export type Standing =
  | { readonly kind: 'free' }
  /** Another suspect is reconciled. Which one ends the process must show. */
  | { readonly kind: 'waits'; readonly until: Date }
  /** A process of its own works on it, and no other one may. */
  | { readonly kind: 'inSecondProcess' }
  | { readonly kind: 'apart'; readonly apart: Apart; readonly retryAt: Date };

export interface QuarantineOptions {
  readonly notes: Notes;
  /** What the process before this one has left. */
  readonly left: Left;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
  readonly startSecondProcess: StartSecondProcess;
  /** @default {@link retryDelays} */
  readonly delays?: BackOff | undefined;
}

/** Soon after the reconcile of another suspect, which takes less than a second. */
const suspectRestMs = 500;
/** Until the second process of another control plane has ended. */
const secondProcessRestMs = 10_000;

/**
 * Which control planes have ended the operator, and what it does for them since. Everything in hand is noted outside of the process, so
 * that the next one knows.
 */
export class Quarantine implements Pick<Notes, 'take' | 'touch'> {
  readonly #options: QuarantineOptions;
  #conducts: Conducts;
  #suspectInHand: string | undefined;
  #secondProcess: { readonly key: string; readonly running: SecondProcess } | undefined;
  #isClosed = false;

  constructor(options: QuarantineOptions) {
    this.#options = options;
    const { left, clock, log, delays } = options;
    this.#conducts = left.conducts;
    if (left.inHand === undefined) return;
    const before = this.#conducts;
    this.#keep(afterEnd(before, left.inHand, clock.now(), delays));
    const inHand = left.inHand.map(({ key }) => key).slice(0, mostLogged);
    log.warn({ inHand }, 'the process before this one has ended while it had these control planes in hand');
    for (const [key, { apart }] of Object.entries(this.#conducts)) {
      if (apart !== before[key]?.apart) log.error({ hostedControlPlane: key, apart }, 'in quarantine from now on');
    }
  }

  take(key: string, isTask = false): () => void {
    return this.#options.notes.take(key, isTask);
  }

  touch(key: string): void {
    this.#options.notes.touch(key);
  }

  /** Notes a reconcile. */
  takeReconcile(key: string): () => void {
    const release = this.take(key);
    if (isSuspect(this.#conducts[key], this.#now)) this.#suspectInHand = key;
    return () => {
      release();
      if (this.#suspectInHand === key) this.#suspectInHand = undefined;
    };
  }

  /** @param object as the API server has it: another instance may have reported a quarantine */
  standingOf(key: string, object: KubeObject): Standing {
    const now = this.#now;
    if (this.#secondProcess?.key === key) return { kind: 'inSecondProcess' };
    const reported = apartIn(object);
    const known = reported === undefined ? this.#conducts : takenOver(this.#conducts, key, reported, now);
    if (known !== this.#conducts) this.#keep(known);
    const conduct = this.#conducts[key];
    if (conduct?.apart !== undefined)
      return { kind: 'apart', apart: conduct.apart, retryAt: new Date(conduct.retryAt ?? now) };
    const isNotAlone = this.#suspectInHand !== undefined && this.#suspectInHand !== key;
    if (isNotAlone && isSuspect(conduct, now)) return { kind: 'waits', until: new Date(now + suspectRestMs) };
    return { kind: 'free' };
  }

  /**
   * Starts the second process of a control plane in quarantine, when it is due and no other one runs.
   * @param onEnded called when the process has ended
   * @returns when to ask again; undefined when it has begun
   */
  tryAlone(key: string, cluster: string, onEnded: () => void): Date | undefined {
    const { startSecondProcess, log, delays } = this.#options;
    const { retryAt = 0 } = this.#conducts[key] ?? {};
    if (retryAt > this.#now) return new Date(retryAt);
    if (this.#secondProcess || this.#isClosed) return new Date(this.#now + secondProcessRestMs);
    const running = startSecondProcess(key, cluster);
    this.#secondProcess = { key, running };
    void running.ended.then((hasBehaved) => {
      this.#secondProcess = undefined;
      // A process that was stopped with this one says nothing.
      if (this.#isClosed) return;
      this.#keep(afterSecondProcess(this.#conducts, { key, hasBehaved }, this.#now, delays));
      log.info({ hostedControlPlane: key, hasBehaved }, 'the process of a control plane in quarantine has ended');
      onEnded();
    });
    return undefined;
  }

  /** Ends the second process. No end counts from now on. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#options.notes.close();
    this.#secondProcess?.running.stop();
    await this.#secondProcess?.running.ended;
  }

  #keep(conducts: Conducts): void {
    this.#conducts = conducts;
    this.#options.notes.keep(conducts);
  }

  get #now(): number {
    return this.#options.clock.now();
  }
}

const mostLogged = 20;
