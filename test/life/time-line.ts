import { messageOf } from '../../reconciler/kube/error-message.ts';
import type { Report } from '../tools/testbed/progress.ts';

/** A step of a life, and how long it took. */
export interface Lived {
  readonly what: string;
  readonly seconds: number;
}

/** Measures steps one after the other, and reports each when it begins and ends. */
export class TimeLine {
  readonly steps: Lived[] = [];
  readonly #report: Report;

  constructor(report: Report) {
    this.#report = report;
  }

  async step<T>(what: string, work: () => Promise<T>): Promise<T> {
    const start = performance.now();
    const seconds = () => (performance.now() - start) / 1000;
    this.#report(`${this.steps.length + 1}. ${what}`);
    try {
      const result = await work();
      this.steps.push({ what, seconds: seconds() });
      this.#report(`   took ${seconds().toFixed(1)} s`);
      return result;
    } catch (error) {
      throw new Error(`${what}, after ${seconds().toFixed(1)} s: ${messageOf(error)}`, { cause: error });
    }
  }
}
