import { resourceOf } from '../../../constructs/api/resources.ts';
import { isRbac } from '../../../constructs/workload/applied-kinds.ts';
import type { KubernetesApi } from '../../kube/client.ts';
import type { ApplyOptions } from '../../kube/client-options.ts';
import { kubeErrorOf } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/object.ts';

/**
 * Writes with the operator's identity, except for objects that grant permissions and for deletions, which it writes as
 * administrator. Who can write the former can do everything, and the operator's permissions do not name objects that
 * the current release no longer renders.
 * @param onGrant called after permissions were written, which the API server may apply a little later
 */
export function privilegedClient(
  ourselves: Pick<KubernetesApi, 'apply'>,
  administrator: Administrator,
  onGrant: () => void,
): Pick<KubernetesApi, 'apply' | 'delete'> {
  return {
    async apply(object, options) {
      if (!isRbac(object)) return applyAddOn(ourselves, administrator, object, options);
      const live = await administrator.use((client) => grant(client, object, options));
      onGrant();
      return live;
    },
    delete: (resource, name, options) => administrator.use((client) => client.delete(resource, name, options)),
  };
}

/**
 * The selector of a workload is immutable. An add-on with another selector, which another provider or an installer of
 * the same add-on has chosen, is created again.
 */
async function applyAddOn<T extends KubeObject>(
  ourselves: Pick<KubernetesApi, 'apply'>,
  administrator: Administrator,
  object: T,
  options: ApplyOptions,
): Promise<T & KubeObject> {
  try {
    return await ourselves.apply(object, options);
  } catch (error) {
    if (!kubeErrorOf(error)?.causes.some(({ field }) => field === 'spec.selector')) throw error;
    await administrator.use((client) => client.delete(resourceOf(object), object.metadata, options));
    return ourselves.apply(object, options);
  }
}

/** The role of a binding is immutable. A binding with another role is created again. */
async function grant<T extends KubeObject>(client: KubernetesApi, object: T, options: ApplyOptions): Promise<T> {
  try {
    return await client.apply(object, options);
  } catch (error) {
    if (!kubeErrorOf(error)?.causes.some(({ field }) => field === 'roleRef')) throw error;
    await client.delete(resourceOf(object), object.metadata, options);
    return client.apply(object, options);
  }
}

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
