/**
 * One command-line flag: name without dashes, value, why it is set, and for a list which entries the user's list cannot
 * have. A list without any entry is not rendered. The tables of a component are sorted by name.
 */
export type Flag = readonly [name: string, value: string, why: string, never?: readonly string[]];

/**
 * Flags whose value is a list, and where the operator's entries go that the user's list lacks. The first entry that
 * answers decides, so each goes where it decides. Entries may be `key=value`; then the operator's value of a key wins.
 */
const lists: Readonly<Record<string, 'before' | 'after'>> = {
  'authorization-mode': 'before',
  controllers: 'before',
  'disable-admission-plugins': 'before',
  'enable-admission-plugins': 'before',
  'feature-gates': 'after',
  'kubelet-preferred-address-types': 'after',
  'requestheader-allowed-names': 'before',
  'requestheader-extra-headers-prefix': 'before',
  'requestheader-group-headers': 'before',
  'requestheader-username-headers': 'before',
  'runtime-config': 'after',
};

/**
 * Arguments as `--name=value`, sorted by name. The operator's flags take precedence over the user's, because a wrong
 * value would break the control plane.
 */
export function renderFlags(operatorFlags: readonly Flag[], users: Readonly<Record<string, string>> = {}): string[] {
  return formatFlags(mergeFlags(operatorFlags, users));
}

/** Values by name. Those of the operator take precedence; of lists, entry by entry. */
export function mergeFlags(
  operatorFlags: readonly Flag[],
  users: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const merged = new Map(Object.entries(users));
  for (const flag of operatorFlags) {
    const value = together(flag, users[flag[0]]);
    if (value === undefined) merged.delete(flag[0]);
    else merged.set(flag[0], value);
  }
  return Object.fromEntries(merged);
}

/** Values as arguments, sorted by name. */
export function formatFlags(flags: Readonly<Record<string, string>>): string[] {
  const sorted = Object.entries(flags).sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([name, value]) => `--${name}=${value}`);
}

/**
 * What of the user's flags has no effect, because the operator sets another value: the name of a flag, or of a list
 * `name=entry`.
 */
export function overruledFlags(operatorFlags: readonly Flag[], users: Readonly<Record<string, string>> = {}): string[] {
  return operatorFlags
    .flatMap((flag) => {
      const [name, value] = flag;
      const given = users[name];
      if (given === undefined) return [];
      if (!lists[name]) return given === value ? [] : [name];
      const kept = new Set(accepted(flag, given));
      return entriesOf(given)
        .filter((entry) => !kept.has(entry))
        .map((entry) => `${name}=${entry}`);
    })
    .sort();
}

/** The value of one of the operator's flags; undefined for a list without entries. */
function together(flag: Flag, users: string | undefined): string | undefined {
  const [name, value] = flag;
  const place = lists[name];
  if (!place) return value;
  const theirs = users === undefined ? [] : accepted(flag, users);
  const missing = entriesOf(value).filter((entry) => !theirs.includes(entry));
  const all = place === 'before' ? [...missing, ...theirs] : [...theirs, ...missing];
  return all.length === 0 ? undefined : [...new Set(all)].join(',');
}

/** The entries of the user's list that have an effect. */
function accepted([, value, , never = []]: Flag, users: string): string[] {
  const operatorEntries = new Map(entriesOf(value).map((entry) => [keyOf(entry), entry]));
  return entriesOf(users).filter(
    (entry) => !never.includes(entry) && (operatorEntries.get(keyOf(entry)) ?? entry) === entry,
  );
}

function entriesOf(list: string): string[] {
  return list
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

function keyOf(entry: string): string {
  const [key = ''] = entry.split('=');
  return key;
}
