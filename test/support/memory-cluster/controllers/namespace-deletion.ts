import { Namespace } from '../../../../constructs/api/resources.ts';
import type { MemoryApiServer } from '../api-server.ts';

/** Deletes what is in namespaces that are being deleted, and a namespace when nothing is left in it. */
export function emptyNamespaces(server: MemoryApiServer): void {
  for (const namespace of server.store.list(Namespace)) {
    if (!namespace.metadata.deletionTimestamp) continue;
    const content = () => server.store.objects.filter(({ metadata }) => metadata.namespace === namespace.metadata.name);
    for (const object of content()) if (!object.metadata.deletionTimestamp) server.end('empty', object);
    if (content().length === 0) server.store.remove(namespace);
  }
}
