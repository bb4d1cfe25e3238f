import { closest, distance } from 'fastest-levenshtein';

/** The known name that was probably meant: it begins so, or at most a third of the letters differ. */
export function nearestName(given: string, known: readonly string[]): string | undefined {
  const [text, ...names] = [given, ...known].map((name) => name.toLowerCase()) as [string, ...string[]];
  if (names.length === 0) return undefined;
  const near = names.find((name) => text.length > 2 && name.startsWith(text)) ?? closest(text, names);
  const isNear = near.startsWith(text) || distance(text, near) <= Math.ceil(text.length / 3);
  return isNear ? known[names.indexOf(near)] : undefined;
}
