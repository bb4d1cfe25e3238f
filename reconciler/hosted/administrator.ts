import type { KubernetesApi } from '../kube/client.ts';

/**
 * The right to grant rights in a hosted cluster. Its client exists only while somebody uses it, and so does its key:
 * an administrator that is kept could be stolen.
 */
export class Administrator {
  readonly #open: () => Promise<KubernetesApi>;
  #opened: Promise<KubernetesApi> | undefined;
  #users = 0;

  constructor(open: () => Promise<KubernetesApi>) {
    this.#open = open;
  }

  /** Does something with the client, which those share who use it at the same time. */
  async use<T>(work: (client: KubernetesApi) => Promise<T>): Promise<T> {
    this.#users += 1;
    const opened = (this.#opened ??= this.#open());
    try {
      return await work(await opened);
    } finally {
      this.#users -= 1;
      if (this.#users === 0) {
        this.#opened = undefined;
        await opened.then(
          (client) => client.close(),
          () => {},
        );
      }
    }
  }
}
