/** One command line flag: name without dashes, value, and why it is set. The tables of a component are sorted by name. */
export type Flag = readonly [name: string, value: string, why: string];

/** Arguments as `--name=value`, sorted by name. Ours win over the user's: a wrong one would break the control plane. */
export function renderFlags(ours: readonly Flag[], users: Readonly<Record<string, string>> = {}): string[] {
  const merged = new Map(Object.entries(users));
  for (const [name, value] of ours) merged.set(name, value);
  return [...merged].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => `--${name}=${value}`);
}

/** The user's flags that are overruled, because ours has another value; what a person is told once. */
export function overruledFlags(ours: readonly Flag[], users: Readonly<Record<string, string>> = {}): string[] {
  return ours
    .filter(([name, value]) => users[name] !== undefined && users[name] !== value)
    .map(([name]) => name)
    .sort();
}
