import { setFlagsFromString } from 'node:v8';
import type { Config } from './config.ts';

/** From so many control planes on, `auto` is for speed. */
export const fleetFrom = 20;

/** How much of what lives the heap of a fleet grows by before it is collected, in percent. Without a limit it doubles. */
const growthPercent = 30;

/**
 * The flags of V8 for a fleet of this size, none for size: Node is started for size, because its flags must be arguments, which no
 * setting of a Deployment's environment reaches. They take effect from the next collection on.
 */
export function heapFlags(optimizeFor: Config['optimizeFor'], controlPlanes: number): readonly string[] {
  if (optimizeFor === 'speed') return ['--no-optimize-for-size'];
  if (optimizeFor === 'size' || controlPlanes < fleetFrom) return [];
  return ['--no-optimize-for-size', `--heap-growing-percent=${growthPercent}`];
}

/** Sets the flags once; what was a fleet stays one until the next start. */
export class Heap {
  readonly #optimizeFor: Config['optimizeFor'];
  readonly #setFlag: (flag: string) => void;
  #isSet = false;

  constructor(optimizeFor: Config['optimizeFor'], setFlag: (flag: string) => void = setFlagsFromString) {
    this.#optimizeFor = optimizeFor;
    this.#setFlag = setFlag;
  }

  /** @param count counts the control planes */
  fit(count: () => number): void {
    if (this.#isSet) return;
    const flags = heapFlags(this.#optimizeFor, count());
    for (const flag of flags) this.#setFlag(flag);
    this.#isSet = flags.length > 0;
  }
}
