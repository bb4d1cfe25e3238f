import { Secret } from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import type { StoredObject } from '../memory-objects.ts';
import type { MemoryCluster } from './memory-cluster.ts';

/**
 * All objects of a management cluster and its hosted cluster, without what differs between two equal control planes: keys and
 * what is derived from them, versions and times.
 */
export function comparableObjects(management: MemoryCluster): Record<string, unknown> {
  const objects = [...management.objects.objects, ...management.hosted.store.objects].filter(
    ({ kind }) => kind !== 'Event',
  );
  return Object.fromEntries(objects.map((object) => [nameOf(object), contentOf(object as StoredObject)]));
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
}

function contentOf({ metadata, ...content }: StoredObject): unknown {
  const { labels, annotations, finalizers, ownerReferences = [] } = metadata;
  const owners = ownerReferences.map(({ kind, name, controller }) => [kind, name, controller]);
  return withoutKeys({ ...content, metadata: { labels, annotations, finalizers, owners } });
}

/** Times, identities, certificates and other long numbers. */
const volatile = [
  /\d{4}-\d\d-\d\dT[\d:.]+Z/g,
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22,}/g,
  /-----BEGIN[^-]+-----[^-]+-----END[^-]+-----\n*/g,
  /[A-Za-z0-9+/=_.-]{40,}/g,
  // revisions of pod templates, whose annotations name certificates
  /\b[0-9a-f]{10}\b/g,
];

/** Annotations hold digests of keys, so only their names are compared. */
function withoutKeys(value: unknown): unknown {
  if (typeof value === 'string') return volatile.reduce((text, pattern) => text.replaceAll(pattern, '#'), value);
  if (Array.isArray(value)) return value.map(withoutKeys);
  if (typeof value !== 'object' || value === null) return value;
  const { kind }: { kind?: unknown } = value;
  return Object.fromEntries(
    Object.entries(value).map(([field, content]) => {
      const isSecret = field === 'annotations' || (field === 'data' && kind === Secret.kind);
      return [field, isSecret ? Object.keys((content ?? {}) as object).sort() : withoutKeys(content)];
    }),
  );
}
