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
