import type { Resource } from '../../../constructs/api/resources.ts';
import type { WatchOptions } from '../../../reconciler/kube/client-options.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import type { WatchEvent } from '../../../reconciler/kube/watch.ts';
import { isSelected } from './selectors.ts';
import type { Store, StoredChange } from './store.ts';

/**
 * The events of the selected objects after a version, or starting with the existing objects. An object that ceases to match
 * the selector is DELETED for the watch. The watch ends with its signal or when the store is restored, and sends no
 * bookmarks.
 */
export async function* watchStore(
  store: Store,
  resource: Resource,
  options: WatchOptions,
): AsyncGenerator<WatchEvent, void> {
  const { resourceVersion, signal } = options;
  const { restores } = store;
  let seen = resourceVersion === undefined ? store.version : Number(resourceVersion);
  if (resourceVersion === undefined) {
    for (const object of store.list(resource)) if (isSelected(object, options)) yield { type: 'ADDED', object };
  }
  for (;;) {
    signal?.throwIfAborted();
    const changes = store.changesSince(resource, seen);
    seen = store.version;
    for (const change of changes) {
      const event = eventOf(change, options);
      if (event) yield event;
    }
    if (store.version === seen) await store.changed(signal);
    if (store.restores !== restores) return;
  }
}

function eventOf({ type, object, previous }: StoredChange, options: WatchOptions): WatchEvent | undefined {
  const wasThere = previous !== undefined && isSelected(previous, options);
  const isThere = type !== 'DELETED' && isSelected(object, options);
  if (isThere) return { type: wasThere ? 'MODIFIED' : 'ADDED', object };
  return wasThere
    ? { type: 'DELETED', object: { ...previous, metadata: { ...previous.metadata, ...last(object) } } }
    : undefined;
}

/** The version of the change, with which a deletion sends the last state of the object. */
function last({ metadata: { resourceVersion } }: KubeObject): Pick<KubeObject['metadata'], 'resourceVersion'> {
  return { resourceVersion };
}
