const most = 5;

/** Names for a sentence: the first five, and how many more there are. */
export function namesOfMany(names: readonly string[]): string {
  const shown = names.toSorted().slice(0, most);
  const rest = names.length - shown.length;
  return rest > 0 ? `${shown.join(', ')} and ${rest} more` : shown.join(', ');
}
