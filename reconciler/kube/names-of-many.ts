const most = 5;

/** Names for a message: the first five, and the number of the others. */
export function namesOfMany(names: readonly string[]): string {
  const shown = names.toSorted().slice(0, most);
  const rest = names.length - shown.length;
  return rest > 0 ? `${shown.join(', ')} and ${rest} more` : shown.join(', ');
}
