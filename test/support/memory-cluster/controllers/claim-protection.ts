import { PersistentVolumeClaim, Pod } from '../../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../../reconciler/kube/object.ts';
import { protection } from '../admission/storage-protection.ts';
import type { MemoryApiServer } from '../api-server.ts';

/** Lets a deleted volume claim go once no pod of its namespace uses it. A pod uses it until it is gone, even when it has ended. */
export function releaseClaims(server: MemoryApiServer): void {
  for (const claim of server.store.list(PersistentVolumeClaim)) {
    const { deletionTimestamp, finalizers = [], name, namespace } = claim.metadata;
    if (!deletionTimestamp || !finalizers.includes(protection)) continue;
    const pods = server.store.list(Pod).filter(({ metadata }) => metadata.namespace === namespace);
    if (pods.some((pod) => usesClaim(pod, name))) continue;
    server.amend('release', claim, { finalizers: finalizers.filter((one) => one !== protection) });
  }
}

/** Whether a pod that has a node mounts the volume claim with this name. */
export function usesClaim(pod: KubeObject, name: string): boolean {
  const { spec = {} } = pod as {
    spec?: {
      nodeName?: string;
      volumes?: readonly { persistentVolumeClaim?: { claimName: string } }[];
    };
  };
  if (spec.nodeName === undefined) return false;
  return spec.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === name) ?? false;
}
