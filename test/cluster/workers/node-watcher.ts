import { Node } from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { ContinuousUser } from '../../support/continuous-user.ts';
import type { HostedApi } from '../../testbed/hosted-api.ts';

interface NodeObject extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** A look without an answer for so long is given up for the next one. */
const deadlineMs = 5_000;

/** Looks at a Node twice a second, and keeps what it said of being ready whenever that was not `True`. */
export class NodeWatcher extends ContinuousUser {
  readonly problems: string[] = [];
  /** How often it was seen. */
  looks = 0;

  /** @param open the API as it is now: whoever watches for long needs new credentials */
  constructor(name: string, open: <T>(work: (api: HostedApi) => Promise<T>) => Promise<T>) {
    super();
    this.begin(500, () => this.#look(name, open));
  }

  async #look(name: string, open: <T>(work: (api: HostedApi) => Promise<T>) => Promise<T>): Promise<void> {
    // An API server that is being replaced does not answer; that says nothing of the node.
    const look = open(({ client }) => client.find<NodeObject>(Node, { name }, { deadlineMs }));
    const node = await look.catch(() => null);
    if (node === null) return;
    this.looks++;
    const ready = node?.status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'gone';
    if (ready !== 'True') this.problems.push(`${new Date().toISOString()} ${ready}`);
  }
}
