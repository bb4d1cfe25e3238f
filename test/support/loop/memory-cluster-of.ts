import { MemoryObjects, type StoredObject } from '../memory-objects.ts';
import type { MemoryCluster } from './memory-cluster.ts';

/** The objects that an operator has left, for tests of single steps, which see them as phases do. */
export function memoryClusterOf({ objects }: MemoryCluster): MemoryObjects {
  const management = new MemoryObjects();
  for (const object of objects.objects) if (isOfControlPlane(object)) management.put(object);
  return management;
}

/** Neither what ordered the control plane, nor what was told about it. */
function isOfControlPlane({ kind }: StoredObject): boolean {
  return !['Cluster', 'HostedControlPlane', 'Event'].includes(kind);
}
