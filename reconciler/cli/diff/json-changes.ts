/** A difference at one place; `before` or `after` is undefined where there is nothing. */
export interface JsonChange {
  /** Such as `spec.containers[etcd].image`. */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * All differences between two values of JSON. Entries of a list count by their name if they have one, as Kubernetes merges them;
 * texts and numbers in a list count as a set.
 */
export function jsonChanges(before: unknown, after: unknown, path = ''): JsonChange[] {
  if (isFields(before) && isFields(after)) return changesOfFields(before, after, path);
  if (Array.isArray(before) && Array.isArray(after)) return changesOfLists(before, after, path);
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path, before, after }];
}

function changesOfFields(before: Fields, after: Fields, path: string): JsonChange[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => jsonChanges(before[key], after[key], path === '' ? key : `${path}.${key}`));
}

function changesOfLists(before: readonly unknown[], after: readonly unknown[], path: string): JsonChange[] {
  const [one, other] = [keyed(before), keyed(after)];
  if (one && other) {
    const keys = new Set([...one.keys(), ...other.keys()]);
    return [...keys].flatMap((key) => jsonChanges(one.get(key), other.get(key), `${path}[${key}]`));
  }
  if ([...before, ...after].every((entry) => !isFields(entry) && !Array.isArray(entry))) {
    const gone = before.filter((entry) => !after.includes(entry));
    const come = after.filter((entry) => !before.includes(entry));
    const length = Math.max(gone.length, come.length);
    return Array.from({ length }, (_, index) => ({ path: `${path}[]`, before: gone[index], after: come[index] }));
  }
  const length = Math.max(before.length, after.length);
  return Array.from({ length }, (_, index) => jsonChanges(before[index], after[index], `${path}[${index}]`)).flat();
}

/** Entries by their names; undefined if one has none, or two have the same. */
function keyed(list: readonly unknown[]): Map<string, unknown> | undefined {
  const entries = new Map<string, unknown>();
  for (const entry of list) {
    const name = isFields(entry) ? entry['name'] : undefined;
    if (typeof name !== 'string' || entries.has(name)) return undefined;
    entries.set(name, entry);
  }
  return entries;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
