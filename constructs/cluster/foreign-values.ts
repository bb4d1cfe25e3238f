/**
 * The items of a list in an object that another program or server has written: its definition need not be the one that
 * was imported.
 */
export function itemsOf<T>(list: readonly T[] | undefined): readonly T[] {
  return Array.isArray(list) ? (list as readonly T[]).filter((item) => item !== null) : [];
}

/** The text in such an object; undefined if there is something else. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
