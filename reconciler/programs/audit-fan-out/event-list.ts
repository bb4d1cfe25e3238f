/** Audit records of one request, as they came. */
export interface Records {
  /** The elements of the JSON list, without its brackets. */
  readonly items: Buffer;
  readonly count: number;
}

const start = Buffer.from('"items":[');
const head = Buffer.from('{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[');
const comma = Buffer.from(',');
const tail = Buffer.from(']}\n');

/**
 * Reads an EventList of audit.k8s.io/v1 as the API server encodes it, whose last field is `items`. The records keep their
 * bytes: to parse and write them again would round large numbers. Undefined for anything else.
 */
export function readEventList(body: Buffer): Records | undefined {
  const from = body.indexOf(start) + start.length;
  const to = body.lastIndexOf(']');
  if (from < start.length || to < from) return undefined;
  const items = body.subarray(from, to);
  const count = countOf(items);
  return count === undefined ? undefined : { items, count };
}

function countOf(items: Buffer): number | undefined {
  try {
    return (JSON.parse(`[${items.toString('utf8')}]`) as unknown[]).length;
  } catch {
    return undefined;
  }
}

/** One EventList with the records of several, in their order, as chunks of its body. */
export function joinEventLists(lists: readonly Records[]): Buffer[] {
  return [head, ...lists.flatMap(({ items }, index) => (index === 0 ? [items] : [comma, items])), tail];
}
