import { groupOf } from '../../constructs/api/resources.ts';

/**
 * An object or a list as an API server sends it, without null in kinds of Kubernetes itself: Go writes it for an empty list or map, such as
 * the endpoints of an EndpointSlice, and readers know only fields that are missing. In a kind of a CustomResourceDefinition null is a value,
 * such as of a variable of a Cluster, and stays.
 * @param text what the object was parsed from, which rarely says null
 */
export function withoutNulls<T>(object: T, text: string): T {
  return text.includes('null') && isOfKubernetes(object) ? cleaned(object) : object;
}

/** The group of a CustomResourceDefinition has a dot, and is below `k8s.io` only with the approval of Kubernetes. */
function isOfKubernetes(object: unknown): boolean {
  const { apiVersion } = Object(object) as { readonly apiVersion?: unknown };
  const group = groupOf({ apiVersion: typeof apiVersion === 'string' ? apiVersion : '' });
  return !group.includes('.') || group.endsWith('.k8s.io');
}

/** The longest part of most objects, which a server writes itself without null. */
const longest = 'managedFields';

/** In place where nothing is null: copies of all objects would take five times as long as parsing them. */
function cleaned<T>(value: T): T {
  const fields = value as Record<string, unknown>;
  let hasNull = false;
  for (const name in fields) {
    const field = fields[name];
    if (field === null) hasNull = true;
    else if (typeof field === 'object' && name !== longest) fields[name] = cleaned(field);
  }
  if (!hasNull) return value;
  const kept = Object.entries(fields).filter(([, field]) => field !== null);
  return (Array.isArray(value) ? kept.map(([, item]) => item) : Object.fromEntries(kept)) as T;
}
