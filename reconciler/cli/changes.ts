import { HostedControlPlane } from '../../constructs/api/resources.ts';
import type { KubernetesApi } from '../kube/client.ts';
import { isGone, KubeError } from '../kube/errors.ts';
import type { KubeObject } from '../kube/object.ts';

/** Which HostedControlPlanes are meant: by default all. */
export interface ControlPlaneSelection {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

/**
 * The HostedControlPlanes of a selection, and all of them again after each change. It never ends.
 * @param signal ends it with an error
 */
export async function* selectedControlPlanes<T extends KubeObject>(
  client: KubernetesApi,
  selection: ControlPlaneSelection,
  signal?: AbortSignal,
): AsyncGenerator<readonly T[]> {
  for (;;) {
    const { items, resourceVersion } = await client.list<T>(HostedControlPlane, { ...selection, signal });
    const known = new Map(items.map((item) => [keyOf(item), item]));
    yield items;
    try {
      for await (const event of client.watch<T>(HostedControlPlane, { ...selection, resourceVersion, signal })) {
        if (event.type === 'BOOKMARK') continue;
        if (event.type === 'DELETED') known.delete(keyOf(event.object));
        else known.set(keyOf(event.object), event.object);
        yield [...known.values()];
      }
    } catch (error) {
      // The server restarts, or has compacted the version. The next list shows whether it is available.
      if (signal?.aborted || !(error instanceof KubeError) || (error.code !== 0 && !isGone(error))) throw error;
    }
  }
}

function keyOf({ metadata }: KubeObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}
