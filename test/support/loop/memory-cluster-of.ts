import { MemoryObjects, type StoredObject } from '../memory-objects.ts';
import type { MemoryCluster } from './memory-cluster.ts';

/** The objects that an operator has left, for tests of single phases, as phases see them. */
export function memoryClusterOf({ objects }: MemoryCluster): MemoryObjects {
  const management = new MemoryObjects();
  for (const object of objects.objects) if (isOfControlPlane(object)) management.put(object);
  return management;
}

/** Neither the objects that request the control plane nor its events. */
function isOfControlPlane({ kind }: StoredObject): boolean {
  return !['Cluster', 'HostedControlPlane', 'Event'].includes(kind);
}
