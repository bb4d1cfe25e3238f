import { identity, type Key } from './configuration.ts';
import type { EncryptionKeys } from './secret.ts';

/** Result of an attempt to add keys to the existing ones. */
export type Adoption =
  | { readonly kind: 'adopted'; readonly keys: EncryptionKeys }
  /** All of them exist already. */
  | { readonly kind: 'known' }
  /** Another key with this name exists, and encrypted data contains only the name. */
  | { readonly kind: 'clash'; readonly name: string };

/**
 * Adds keys of another cluster, or of another time, to the retired keys. API servers read with them during the restore
 * of a backup, and never write with them. No key is dropped to make space: the next rotation removes surplus keys.
 */
export function adopt(keys: EncryptionKeys, others: readonly Key[]): Adoption {
  const own = keysIn(keys);
  const clash = others.find(({ name, secret }) => own.some((key) => key.name === name && key.secret !== secret));
  if (clash) return { kind: 'clash', name: clash.name };
  const missing = others.filter(({ name }) => !own.some((key) => key.name === name));
  if (missing.length === 0) return { kind: 'known' };
  return { kind: 'adopted', keys: { ...keys, retired: [...missing, ...keys.retired] } };
}

/** All keys, those in use first, each of them once. */
export function keysIn({ providers, retired }: Pick<EncryptionKeys, 'providers' | 'retired'>): Key[] {
  const all: readonly Key[] = [...providers.filter((provider) => provider !== identity), ...retired];
  return all.filter((key, index) => all.findIndex(({ name }) => name === key.name) === index);
}
