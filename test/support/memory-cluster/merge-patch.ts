import { isFields } from './leaves.ts';

/** RFC 7386: null removes, objects are merged, everything else is replaced. */
export function mergePatched(value: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  const merged: Record<string, unknown> = { ...(isFields(value) ? value : {}) };
  for (const [field, content] of Object.entries(patch)) {
    if (content === null) delete merged[field];
    else merged[field] = mergePatched(merged[field], content);
  }
  return merged;
}
