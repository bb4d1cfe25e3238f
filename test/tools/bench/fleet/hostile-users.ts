import { ClusterRole } from '../../../../constructs/api/resources.ts';
import { fieldManager } from '../../../../constructs/api/group.ts';
import { managedByLabel } from '../../../../constructs/cluster/labels.ts';
import type { KubernetesApi } from '../../../../reconciler/kube/client.ts';

const perSecond = 100;
const objects = 20;
const everyMs = 100;

/** Administrators of a hosted cluster who write objects with the label of the operator, as fast as they can. */
export class HostileUsers {
  readonly #client: KubernetesApi;
  #timer: NodeJS.Timeout | undefined;
  #written = 0;

  constructor(client: KubernetesApi) {
    this.#client = client;
  }

  start(): void {
    this.#timer = setInterval(() => {
      for (let count = 0; count < (perSecond * everyMs) / 1_000; count += 1) void this.#write();
    }, everyMs);
  }

  /** Returns how many objects they have changed. */
  async stop(): Promise<number> {
    clearInterval(this.#timer);
    return this.#written;
  }

  async #write(): Promise<void> {
    this.#written += 1;
    const { apiVersion, kind } = ClusterRole;
    const metadata = {
      name: `hostile-${this.#written % objects}`,
      labels: { [managedByLabel]: fieldManager },
      annotations: { written: String(this.#written) },
    };
    await this.#client.apply({ apiVersion, kind, metadata }, { fieldManager: 'hostile', force: true });
  }
}
