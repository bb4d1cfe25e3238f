import { parse } from 'yaml';

/** Longest text that is parsed. What the operator itself writes has a few kilobytes. */
const longestText = 64 << 10;

/**
 * The content of a YAML text that another client may have written; undefined if it is none, or too long. It takes linear time: the parser
 * compares each key of a map with all before it unless an option disables that, and 46,000 keys took minutes.
 */
export function parseYaml(text: string): unknown {
  if (text.length > longestText) return undefined;
  try {
    return parse(text, { uniqueKeys: false, maxAliasCount: 0 }) as unknown;
  } catch {
    return undefined;
  }
}
