import type { KubeObject } from '../../../reconciler/kube/object.ts';
import type { Store } from './store.ts';

/** Objects whose owners are all gone, which the garbage collector deletes in the background. */
export function orphans(store: Store): KubeObject[] {
  const uids = new Set(store.objects.map(({ metadata }) => metadata.uid));
  return store.objects.filter(({ metadata: { ownerReferences = [] } }) => {
    return ownerReferences.length > 0 && ownerReferences.every(({ uid }) => !uids.has(uid));
  });
}
