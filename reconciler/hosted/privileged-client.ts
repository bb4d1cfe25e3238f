import { isRbac } from '../../constructs/workload/applied-kinds.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Administrator } from './administrator.ts';

/**
 * Writes as ourselves, and as administrator what grants rights, for whoever may write that may do everything, and what
 * takes something away: an object that no release of ours renders any more is none that our own rights name.
 * @param onGrant told when rights have been written, which the API server may notice a little later
 */
export function privilegedClient(
  ourselves: Pick<KubeClient, 'apply'>,
  administrator: Administrator,
  onGrant: () => void,
): Pick<KubeClient, 'apply' | 'delete'> {
  return {
    async apply(object, options) {
      if (!isRbac(object)) return ourselves.apply(object, options);
      const live = await administrator.use((client) => client.apply(object, options));
      onGrant();
      return live;
    },
    delete: (resource, name, options) => administrator.use((client) => client.delete(resource, name, options)),
  };
}
