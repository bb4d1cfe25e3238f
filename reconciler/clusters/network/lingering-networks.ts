import { isDeepStrictEqual } from 'node:util';
import { fewestNetworks } from '../../../constructs/cluster/cidr.ts';
import type { Clock } from '../../kube/clock.ts';

/** A server that has left serves on for a while, and may come back. */
export const lingerMs = 10 * 60_000;

/** While others leave again and again, one that has left stays no longer than this. */
const longestLingerMs = 60 * 60_000;

export interface LingeringNetworksOptions {
  readonly clock: Pick<Clock, 'elapsed' | 'setTimer'>;
  /** Networks that are always there. What is within them changes nothing. */
  readonly fixed: readonly string[];
  /** Called when another network than before is there, or one is not there any more. */
  readonly onChange: () => void;
}

/**
 * Networks from several sources. A new one is there at once. One that has left is there for ten minutes more, and goes together with
 * those that have left after it, so that a rollout of servers takes away only once.
 */
export class LingeringNetworks {
  readonly #options: LingeringNetworksOptions;
  readonly #sources = new Map<string, readonly string[]>();
  /** When each network has left, in the time of Clock.elapsed. */
  readonly #left = new Map<string, number>();
  #networks: readonly string[];
  #cancelTimer = (): void => {};

  constructor(options: LingeringNetworksOptions) {
    this.#options = options;
    this.#networks = fewestNetworks(options.fixed);
  }

  /** The fewest networks that have all of them, sorted. */
  get networks(): readonly string[] {
    return this.#networks;
  }

  /** Sets what a source has now. */
  set(source: string, networks: readonly string[]): void {
    const before = this.#sources.get(source) ?? [];
    this.#sources.set(source, networks);
    const now = this.#options.clock.elapsed();
    const present = this.#present();
    for (const network of before) if (!present.has(network)) this.#left.set(network, now);
    for (const network of networks) this.#left.delete(network);
    this.#update();
  }

  stop(): void {
    this.#cancelTimer();
  }

  #present(): Set<string> {
    return new Set([...this.#sources.values()].flat());
  }

  #update(): void {
    const { clock, fixed, onChange } = this.#options;
    const now = clock.elapsed();
    const youngest = Math.max(-Infinity, ...this.#left.values());
    for (const [network, leftAt] of this.#left) {
      if (now - youngest >= lingerMs || now - leftAt >= longestLingerMs) this.#left.delete(network);
    }
    this.#cancelTimer();
    this.#cancelTimer =
      this.#left.size === 0 ? () => {} : clock.setTimer(youngest + lingerMs - now, () => this.#update());
    const networks = fewestNetworks([...fixed, ...this.#present(), ...this.#left.keys()]);
    if (isDeepStrictEqual(networks, this.#networks)) return;
    this.#networks = networks;
    onChange();
  }
}
