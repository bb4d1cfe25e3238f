import { resultsOf, settleAll } from '../kube/concurrency.ts';
import type { KubeObject } from '../kube/object.ts';
import { lastReport, type NodeObject } from './node-object.ts';

/** Maximum number of requests to the hosted API server at a time. */
const atOnce = 8;

/** A Node whose kubelet reports no more. */
export interface SilentNode {
  readonly name: string;
  readonly lastReport: Date;
}

/**
 * The Nodes whose kubelets did not come back after a time at which all of them had to. A Node that came back, or whose silence does
 * not matter, is read once.
 */
export class SilentNodes {
  readonly #read: (name: string) => Promise<NodeObject | undefined>;
  #since = '';
  #examined = new Set<string>();

  /** @param read reads a Node from the API server */
  constructor(read: (name: string) => Promise<NodeObject | undefined>) {
    this.#read = read;
  }

  /**
   * @param nodes all Nodes, of which those that are younger than `since` are ignored
   * @param leastMs for how long at least a Node was silent at `since`
   */
  async of(nodes: readonly KubeObject[], since: Date, leastMs: number): Promise<SilentNode[]> {
    if (this.#since !== since.toISOString()) this.#examined.clear();
    this.#since = since.toISOString();
    const old = nodes.filter(({ metadata }) => Date.parse(metadata.creationTimestamp ?? '') < since.getTime());
    const open = old.filter(({ metadata: { uid = '' } }) => !this.#examined.has(uid));
    const found = await settleAll(open, atOnce, async ({ metadata: { name, uid = '' } }) => {
      const at = lastReport(await this.#read(name));
      if (at && since.getTime() - at.getTime() >= leastMs) return { name, lastReport: at };
      this.#examined.add(uid);
      return undefined;
    });
    return resultsOf(found).filter((node) => node !== undefined);
  }
}
