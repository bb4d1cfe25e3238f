import type { PodObject } from '../../imports/kubernetes.ts';
import { clusterNameLabel } from '../../constructs/api/group.ts';
import { Pod } from '../../constructs/api/resources.ts';
import { componentLabel } from '../../constructs/cluster/labels.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import { ContinuousUser } from './continuous-user.ts';

/** Counts restarts of pods and containers of a control plane. */
export class RestartCounter extends ContinuousUser {
  readonly #client: KubeClient;
  readonly #selection: { readonly namespace: string; readonly labelSelector: string };
  /** The uid of every pod that was seen, by component. */
  readonly #pods = new Map<string, Set<string>>();
  /** Every restart of a container that was seen, by component. */
  readonly #restarts = new Map<string, Set<string>>();

  constructor(client: KubeClient, { namespace, cluster }: { readonly namespace: string; readonly cluster: string }) {
    super();
    this.#client = client;
    this.#selection = { namespace, labelSelector: `${clusterNameLabel}=${cluster}` };
    this.begin(500, () => this.#read());
  }

  /** Pods and restarts of their containers that were seen so far, by component. */
  async count(): Promise<Readonly<Record<string, number>>> {
    const pods = await this.pods();
    const restarts = (component: string) => this.#restarts.get(component)?.size ?? 0;
    return Object.fromEntries(
      Object.entries(pods).map(([component, count]) => [component, count + restarts(component)]),
    );
  }

  /** Pods that were seen so far, by component: without the restarts of containers, which a busy machine may cause, too. */
  async pods(): Promise<Readonly<Record<string, number>>> {
    await this.#read();
    return Object.fromEntries([...this.#pods].map(([component, uids]) => [component, uids.size]));
  }

  async #read(): Promise<void> {
    const { items } = await this.#client.list<PodObject>(Pod, this.#selection);
    for (const { metadata, status } of items) {
      const component = metadata.labels?.[componentLabel] ?? 'other';
      const uid = metadata.uid ?? '';
      addTo(this.#pods, component, uid);
      const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
      for (const { name, restartCount = 0 } of containers) {
        for (let restart = 1; restart <= restartCount; restart++)
          addTo(this.#restarts, component, `${uid} ${name} ${restart}`);
      }
    }
  }
}

function addTo(sets: Map<string, Set<string>>, key: string, value: string): void {
  sets.set(key, (sets.get(key) ?? new Set()).add(value));
}
