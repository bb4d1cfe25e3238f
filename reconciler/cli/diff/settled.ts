type Fields = Readonly<Record<string, unknown>>;

/**
 * What two renders have in common, and from the live object whatever they differ in; undefined where that has nothing.
 * @param one a render, whose structure the result has
 * @param other the same with other facts
 */
export function settled(one: unknown, other: unknown, live: unknown): unknown {
  if (JSON.stringify(one) === JSON.stringify(other)) return one;
  if (isFields(one) && isFields(other))
    return isFields(live) ? settledFields(one, other, live) : nonEmpty(settledFields(one, other, {}));
  if (Array.isArray(one) && Array.isArray(other)) return settledList(one, other, live);
  return live;
}

/** A map all of whose fields were left out is not there either. */
function nonEmpty(fields: Fields): Fields | undefined {
  return Object.keys(fields).length > 0 ? fields : undefined;
}

function settledFields(one: Fields, other: Fields, live: Fields): Fields {
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  const entries = [...keys].map((key) => [key, settled(one[key], other[key], live[key])] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function settledList(one: readonly unknown[], other: readonly unknown[], live: unknown): unknown {
  if (one.length !== other.length) return live;
  const there: readonly unknown[] = Array.isArray(live) ? live : [];
  if (one.every(isNamed)) {
    const named = one.map((entry, index) => settled(entry, other[index], there.filter(isNamed).find(sameName(entry))));
    return named.filter((entry) => entry !== undefined);
  }
  if (one.every(isFlag)) return one.flatMap((flag, index) => (flag === other[index] ? [flag] : sameFlags(flag, there)));
  if (one.length !== there.length) return live;
  return one.map((entry, index) => (JSON.stringify(entry) === JSON.stringify(other[index]) ? entry : there[index]));
}

/** The live flags of this name. */
function sameFlags(flag: string, live: readonly unknown[]): unknown[] {
  const [name] = flag.split('=');
  return live.filter((entry) => isFlag(entry) && entry.split('=')[0] === name);
}

function isFlag(entry: unknown): entry is string {
  return typeof entry === 'string' && entry.startsWith('--');
}

function isNamed(entry: unknown): entry is Fields & { readonly name: string } {
  return isFields(entry) && typeof entry['name'] === 'string';
}

function sameName({ name }: { readonly name: string }): (entry: { readonly name: string }) => boolean {
  return (entry) => entry.name === name;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
