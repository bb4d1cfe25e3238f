import { resourceOf } from '../../constructs/api/resources.ts';
import { isRbac } from '../../constructs/workload/applied-kinds.ts';
import type { KubernetesApi } from '../kube/client.ts';
import type { ApplyOptions } from '../kube/client-options.ts';
import { kubeErrorOf } from '../kube/errors.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Administrator } from './administrator.ts';

/**
 * Writes as ourselves, and as administrator what grants rights, for whoever may write that may do everything, and what
 * takes something away: an object that no release of ours renders any more is none that our own rights name.
 * @param onGrant told when rights have been written, which the API server may notice a little later
 */
export function privilegedClient(
  ourselves: Pick<KubernetesApi, 'apply'>,
  administrator: Administrator,
  onGrant: () => void,
): Pick<KubernetesApi, 'apply' | 'delete'> {
  return {
    async apply(object, options) {
      if (!isRbac(object)) return ourselves.apply(object, options);
      const live = await administrator.use((client) => grant(client, object, options));
      onGrant();
      return live;
    },
    delete: (resource, name, options) => administrator.use((client) => client.delete(resource, name, options)),
  };
}

/** Nobody can change which role a binding gives: one that somebody has made for another role is made anew. */
async function grant<T extends KubeObject>(client: KubernetesApi, object: T, options: ApplyOptions): Promise<T> {
  try {
    return await client.apply(object, options);
  } catch (error) {
    if (!kubeErrorOf(error)?.causes.some(({ field }) => field === 'roleRef')) throw error;
    await client.delete(resourceOf(object), object.metadata, options);
    return client.apply(object, options);
  }
}
