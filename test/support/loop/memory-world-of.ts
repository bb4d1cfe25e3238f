import { MemoryWorld, type StoredObject } from '../memory-world.ts';
import type { SurroundingWorld } from './surrounding-world.ts';

/** The objects that an operator has left, for tests of single steps, which see them as phases do. */
export function memoryWorldOf({ objects }: SurroundingWorld): MemoryWorld {
  const world = new MemoryWorld();
  for (const object of objects.objects) if (isOfControlPlane(object)) world.put(object);
  return world;
}

/** Neither what ordered the control plane, nor what was told about it. */
function isOfControlPlane({ kind }: StoredObject): boolean {
  return !['Cluster', 'HostedControlPlane', 'Event'].includes(kind);
}
