import type { KubeObject } from './object.ts';

/** A set of fields as `metadata.managedFields` has it in `fieldsV1`. */
type FieldSet = Readonly<Record<string, unknown>>;

/**
 * The values that an object has in a set of fields. Admission changes values without a trace in managedFields: they stay those of
 * the manager who has set them. Fields of others, and what the server adds, are left out.
 */
export function ownedValues(fields: FieldSet, value: unknown, searched = { items: 0 }): unknown {
  // The field itself, besides what is in it.
  const steps = Object.entries(fields).filter(([step]) => step !== '.');
  if (steps.length === 0) return '.' in fields ? value !== undefined : value;
  return steps.map(([step, below]) => ownedValues(below as FieldSet, partOf(value, step, searched), searched));
}

/** Each step into a list goes through its items: thousands of both would take minutes. */
const mostSearched = 1_000_000;

/**
 * The values that an object has in a set of fields, as lines that {@link appliedLines} has of what was applied: whether an object already
 * is as it would be applied is known without an apply. An entry of a list has its place among the entries of the manager, because
 * others may add theirs anywhere. Where the server stores another form of a value, such as `500m` for `0.5`, the lines differ.
 */
export function ownedLines(fields: FieldSet, value: unknown, path = '', searched = { items: 0 }): string[] {
  const steps = Object.keys(fields).filter((step) => step !== '.');
  if (steps.length === 0) return valueLines(value, path);
  const found = steps.map((step) => ({ step, value: partOf(value, step, searched) }));
  const places = Array.isArray(value) ? found.toSorted(byPlaceIn(value)) : found;
  return places.flatMap((part, place) => {
    const name = part.step.startsWith('f:') ? part.step.slice(2) : place;
    return ownedLines(fields[part.step] as FieldSet, part.value, `${path}\0${name}`, searched);
  });
}

/** The lines of an object to apply. What identifies the object has no owner. */
export function appliedLines(object: KubeObject): string[] {
  const isOwned = ([name]: [string, unknown]) => !['apiVersion', 'kind', 'metadata'].includes(name);
  const metadata = Object.entries(object.metadata).filter(([name]) => !['name', 'namespace'].includes(name));
  const owned = Object.fromEntries(Object.entries(object).filter(isOwned));
  return valueLines(metadata.length === 0 ? owned : { ...owned, metadata: Object.fromEntries(metadata) }, '');
}

function valueLines(value: unknown, path: string): string[] {
  const all = Array.isArray(value) ? [...value.entries()] : isFields(value) ? Object.entries(value) : [];
  const parts = all.filter(([, part]) => part !== undefined);
  if (parts.length > 0) return parts.flatMap(([name, part]) => valueLines(part, `${path}\0${name}`));
  const line = `${path}=${JSON.stringify(value)}`;
  return defaulted.some((ending) => line.endsWith(ending)) ? [] : [line];
}

/** What the API server adds to maps and lists that have one owner as a whole: references to fields, and templates of volume claims. */
const defaulted = [
  '\0apiVersion="v1"',
  '\0kind="PersistentVolumeClaim"',
  '\0volumeMode="Filesystem"',
  '\0status\0phase="Pending"',
] as const;

function byPlaceIn(items: readonly unknown[]) {
  const places = new Map(items.map((item, place) => [item, place]));
  const placeOf = (value: unknown): number => places.get(value) ?? items.length;
  return (one: { readonly value: unknown }, other: { readonly value: unknown }) =>
    placeOf(one.value) - placeOf(other.value);
}

/** What is behind one step, such as `f:spec`, `k:{"name":"etcd"}`, `v:"finalizer"` or `i:0`. */
function partOf(value: unknown, step: string, searched: { items: number }): unknown {
  const [kind, rest] = [step.slice(0, 2), step.slice(2)];
  if (kind === 'f:') return isFields(value) ? value[rest] : undefined;
  if (!Array.isArray(value)) return undefined;
  const items: readonly unknown[] = value;
  if (kind === 'i:') return items[Number(rest)];
  searched.items += items.length;
  if (searched.items > mostSearched)
    throw new Error('too many items of lists are owned: they are no fields of an API server');
  if (kind === 'v:') return items.find((item) => JSON.stringify(item) === rest);
  const keys = Object.entries(JSON.parse(rest) as FieldSet);
  return items.find((item) => isFields(item) && keys.every(([key, wanted]) => item[key] === wanted));
}

function isFields(value: unknown): value is FieldSet {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
