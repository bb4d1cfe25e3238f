import { Node } from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { ContinuousUser } from '../../support/continuous-user.ts';
import type { HostedApi } from '../../tools/testbed/hosted-api.ts';

interface NodeObject extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** Timeout of a read, after which the next one starts. */
const deadlineMs = 5_000;

/** Reads a Node twice a second, and records its Ready condition whenever that was not `True`. */
export class NodeWatcher extends ContinuousUser {
  readonly problems: string[] = [];
  /** The number of successful reads. */
  reads = 0;

  /** @param open the current API: a long watch needs new credentials */
  constructor(name: string, open: <T>(work: (api: HostedApi) => Promise<T>) => Promise<T>) {
    super();
    this.begin(500, () => this.#read(name, open));
  }

  async #read(name: string, open: <T>(work: (api: HostedApi) => Promise<T>) => Promise<T>): Promise<void> {
    // An API server that is being replaced does not answer; this says nothing about the node.
    const read = open(({ client }) => client.find<NodeObject>(Node, { name }, { deadlineMs }));
    const node = await read.catch(() => null);
    if (node === null) return;
    this.reads++;
    const ready = node?.status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'gone';
    if (ready !== 'True') this.problems.push(`${new Date().toISOString()} ${ready}`);
  }
}
