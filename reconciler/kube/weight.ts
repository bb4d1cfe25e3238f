/** An empty object or array. */
const containerBytes = 56;
/** A member, besides the text of its name and its value. */
const memberBytes = 24;
const textBytes = 24;
const otherBytes = 16;

/**
 * What a JSON value takes of the heap, in bytes: about, because an object with a thousand names, or with names that no other object has, takes
 * up to twice as much. Its text says less: a list of empty objects takes twenty times as much.
 */
export function weightOf(value: unknown): number {
  const left = [value];
  let bytes = 0;
  while (left.length > 0) {
    const one = left.pop();
    if (typeof one === 'string') {
      bytes += textBytes + one.length;
    } else if (typeof one === 'object' && one !== null) {
      bytes += containerBytes;
      const isList = Array.isArray(one);
      for (const [name, member] of Object.entries(one)) {
        bytes += memberBytes + (isList ? 0 : name.length);
        left.push(member);
      }
    } else {
      bytes += otherBytes;
    }
  }
  return bytes;
}

/** Weights of objects, which never change. */
const weights = new WeakMap<object, number>();

/** The same of an object that is asked for again and again; 0 of none. */
export function knownWeight(object: object | undefined): number {
  if (!object) return 0;
  const weight = weights.get(object) ?? weightOf(object);
  weights.set(object, weight);
  return weight;
}
