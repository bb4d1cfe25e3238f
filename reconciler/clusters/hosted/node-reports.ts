import type { NodeObject } from '../../../imports/kubernetes.ts';
import type { Clock } from '../../kube/clock.ts';
import { lastReport } from './kept-objects.ts';

/** When the kubelet of a Node has last reported. */
export interface NodeReport {
  readonly name: string;
  /** Undefined if it never has. */
  readonly at: Date | undefined;
}

/** How long an answer is used again: a reconcile comes with every change of the control plane. */
const keptMs = 5 * 60_000;

/** What the kubelets of a hosted cluster have last reported. The watch of Nodes has no status, which changes all the time. */
export class NodeReports {
  readonly #list: () => Promise<readonly NodeObject[]>;
  readonly #clock: Clock;
  #last: { readonly until: number; readonly reports: readonly NodeReport[] } | undefined;

  /** @param list reads all Nodes */
  constructor(list: () => Promise<readonly NodeObject[]>, clock: Clock) {
    this.#list = list;
    this.#clock = clock;
  }

  /** Those of all Nodes, at most a few minutes old. */
  async all(): Promise<readonly NodeReport[]> {
    const now = this.#clock.now();
    if (this.#last && now < this.#last.until) return this.#last.reports;
    const nodes = await this.#list();
    const reports = nodes.map((node) => ({ name: node.metadata.name, at: lastReport(node) }));
    this.#last = { until: now + keptMs, reports };
    return reports;
  }
}
