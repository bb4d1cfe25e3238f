import type { KubeObject } from './object.ts';

/** Maps of texts, in which every manager owns its own keys. */
const maps = ['data', 'binaryData', 'stringData'] as const;
const metadataMaps = ['labels', 'annotations'] as const;

/**
 * The object to apply. An empty map would be owned as a whole, and every key that another manager adds would be a
 * conflict with it, although it contains nothing.
 */
export function withoutEmptyMaps<T extends KubeObject>(object: T): T {
  return { ...without(object, maps), metadata: without(object.metadata, metadataMaps) };
}

function without<T extends object>(fields: T, names: readonly string[]): T {
  const kept = Object.entries(fields).filter(([name, value]) => !names.includes(name) || !isEmptyMap(value));
  return Object.fromEntries(kept) as T;
}

function isEmptyMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
