import type { Resource } from '../../constructs/api/resources.ts';
import type { ObjectName } from './object.ts';

/** Target of a path: without a name all objects, without a namespace all namespaces. */
export interface PathTarget {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly subresource?: string | undefined;
}

/** Query parameters; those without a value are omitted. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * The URL path of a resource, of one of its namespaces or of one object. Names keep their case: RBAC names such as
 * `system:Foo` are valid, and a lower-case path would address another object.
 */
export function resourcePath(resource: Resource, target: PathTarget = {}): string {
  const root = resource.apiVersion.includes('/') ? `/apis/${resource.apiVersion}` : `/api/${resource.apiVersion}`;
  const segments = [root];
  if (resource.namespaced && target.namespace) segments.push('namespaces', encodeURIComponent(target.namespace));
  segments.push(resource.plural);
  if (target.name) segments.push(encodeURIComponent(target.name));
  if (target.subresource) segments.push(target.subresource);
  return segments.join('/');
}

/** The path of one object. Throws when a namespaced object has no namespace. */
export function objectPath(resource: Resource, object: ObjectName, subresource?: string): string {
  if (resource.namespaced && !object.namespace)
    throw new Error(`${resource.kind} ${object.name} has no namespace: set metadata.namespace`);
  if (!object.name) throw new Error(`${resource.kind} has no name: set metadata.name`);
  return resourcePath(resource, { ...object, subresource });
}

/** The path with its query string. */
export function withQuery(path: string, query: Query): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size === 0 ? path : `${path}?${given.toString()}`;
}

/** `Secret ns/name`, `secrets in ns` or `secrets`: the target of a request in messages. */
export function describeTarget(resource: Resource, target: PathTarget): string {
  const subresource = target.subresource ? ` (${target.subresource})` : '';
  if (target.name) {
    const name = target.namespace ? `${target.namespace}/${target.name}` : target.name;
    return `${resource.kind} ${name}${subresource}`;
  }
  return target.namespace ? `${resource.plural} in ${target.namespace}` : resource.plural;
}
