import type { KubeObject } from '../../kube/object.ts';

type FieldSet = Readonly<Record<string, unknown>>;

/** A field, and a field manager that holds it. */
export interface HeldField {
  /** As that of a JsonChange. */
  readonly path: string;
  readonly manager: string;
}

/** Which field managers hold which fields of an object, apart from what they write as its status. */
export function heldFields({ metadata }: KubeObject): HeldField[] {
  return (metadata.managedFields ?? []).flatMap(({ manager = 'unknown', fieldsV1 = {}, subresource }) =>
    subresource === 'status' ? [] : pathsIn(fieldsV1).map((path) => ({ path, manager })),
  );
}

/**
 * The field managers that hold a field of an object, or one below it.
 * @param path as that of a JsonChange
 */
export function ownersOf(object: KubeObject, path: string): string[] {
  const holding = heldFields(object).filter((held) => overlap(held.path, path));
  return [...new Set(holding.map(({ manager }) => manager))].sort();
}

/**
 * Paths of the innermost fields of a set, written as those of a JsonChange. Entries of a list that have no name end a path: their
 * positions are in no set.
 */
function pathsIn(fields: FieldSet, path = ''): string[] {
  const inner = Object.entries(fields).flatMap(([key, below]) => {
    if (key === '.') return [];
    const step = stepOf(key, path);
    return step === undefined ? [path] : pathsIn(below as FieldSet, step);
  });
  return inner.length > 0 ? [...new Set(inner)] : [path];
}

function stepOf(key: string, path: string): string | undefined {
  const [kind, rest] = [key.slice(0, 2), key.slice(2)];
  if (kind === 'f:') return path === '' ? rest : `${path}.${rest}`;
  if (kind === 'v:') return `${path}[]`;
  const { name } = kind === 'k:' ? (JSON.parse(rest) as { name?: unknown }) : {};
  return typeof name === 'string' ? `${path}[${name}]` : undefined;
}

/** Whether one of two paths contains the other one. */
function overlap(one: string, other: string): boolean {
  return isWithin(one, other) || isWithin(other, one);
}

function isWithin(inner: string, outer: string): boolean {
  return inner === outer || (inner.startsWith(outer) && (outer === '' || '.['.includes(inner.charAt(outer.length))));
}
