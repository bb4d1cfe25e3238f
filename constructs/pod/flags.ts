/**
 * One command-line flag: name without dashes, value, and why it is set. The tables of a component are sorted by name.
 */
export type Flag = readonly [name: string, value: string, why: string];

/** Flags whose value is a list of `key=value`. The user's entries are kept besides those of the operator. */
const lists: readonly string[] = ['feature-gates', 'runtime-config'];

/**
 * Arguments as `--name=value`, sorted by name. The operator's flags take precedence over the user's, because a wrong
 * value would break the control plane.
 */
export function renderFlags(ours: readonly Flag[], users: Readonly<Record<string, string>> = {}): string[] {
  return formatFlags(mergeFlags(ours, users));
}

/** Values by name. Those of the operator take precedence. */
export function mergeFlags(
  ours: readonly Flag[],
  users: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const merged = ours.map(([name, value]) => [name, together(name, value, users[name])] as const);
  return { ...users, ...Object.fromEntries(merged) };
}

/** Values as arguments, sorted by name. */
export function formatFlags(flags: Readonly<Record<string, string>>): string[] {
  const sorted = Object.entries(flags).sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([name, value]) => `--${name}=${value}`);
}

/** The user's flags that have no effect because the operator sets another value. The operator reports them once. */
export function overruledFlags(ours: readonly Flag[], users: Readonly<Record<string, string>> = {}): string[] {
  return ours
    .filter(([name, value]) => users[name] !== undefined && isOverruled(name, value, users[name]))
    .map(([name]) => name)
    .sort();
}

function together(name: string, ours: string, users: string | undefined): string {
  if (users === undefined || !lists.includes(name)) return ours;
  return [...new Map([...entriesOf(users), ...entriesOf(ours)])].map((entry) => entry.join('=')).join(',');
}

function isOverruled(name: string, ours: string, users: string): boolean {
  if (!lists.includes(name)) return ours !== users;
  const given = new Map(entriesOf(users));
  return entriesOf(ours).some(([key, value]) => given.has(key) && given.get(key) !== value);
}

function entriesOf(list: string): [key: string, value: string][] {
  return list
    .split(',')
    .filter((entry) => entry.trim() !== '')
    .map((entry) => {
      const [key = '', ...value] = entry.trim().split('=');
      return [key, value.join('=')];
    });
}
