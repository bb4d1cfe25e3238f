import type { KubernetesApi } from '../../kube/client.ts';

/**
 * An administrator identity, which can grant permissions in a hosted cluster. Its client and its key exist only while
 * they are used, because a stored administrator key could be stolen.
 */
export class Administrator {
  readonly #open: () => Promise<KubernetesApi>;
  #opened: Promise<KubernetesApi> | undefined;
  #users = 0;

  constructor(open: () => Promise<KubernetesApi>) {
    this.#open = open;
  }

  /** Runs work with the client, which concurrent callers share. */
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
