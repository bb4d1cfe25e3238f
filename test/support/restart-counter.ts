import { clusterNameLabel } from '../../constructs/api/group.ts';
import { Pod } from '../../constructs/api/resources.ts';
import { componentLabel } from '../../constructs/cluster/labels.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import type { PodObject } from '../../reconciler/kube/readiness.ts';
import { ContinuousUser } from './continuous-user.ts';

/** Counts restarts of pods and containers of a control plane. */
export class RestartCounter extends ContinuousUser {
  readonly #client: KubeClient;
  readonly #selection: { readonly namespace: string; readonly labelSelector: string };
  /** Every start that was seen, by component. */
  readonly #starts = new Map<string, Set<string>>();

  constructor(client: KubeClient, { namespace, cluster }: { readonly namespace: string; readonly cluster: string }) {
    super();
    this.#client = client;
    this.#selection = { namespace, labelSelector: `${clusterNameLabel}=${cluster}` };
    this.begin(500, () => this.#read());
  }

  /** Starts that were seen so far, by component. */
  async count(): Promise<Readonly<Record<string, number>>> {
    await this.#read();
    return Object.fromEntries([...this.#starts].map(([component, starts]) => [component, starts.size]));
  }

  async #read(): Promise<void> {
    const { items } = await this.#client.list<PodObject>(Pod, this.#selection);
    for (const { metadata, status } of items) {
      const component = metadata.labels?.[componentLabel] ?? 'other';
      const starts = this.#starts.get(component) ?? new Set<string>();
      // the first start of a container comes with its pod
      starts.add(metadata.uid ?? '');
      for (const { name, restartCount = 0 } of status?.containerStatuses ?? []) {
        for (let restart = 1; restart <= restartCount; restart++) starts.add(`${metadata.uid} ${name} ${restart}`);
      }
      this.#starts.set(component, starts);
    }
  }
}
