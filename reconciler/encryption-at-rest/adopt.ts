import { identity, type Key } from './configuration.ts';
import type { EncryptionKeys } from './secret.ts';

/** What comes of keys that are to become readable besides those that are there. */
export type Adoption =
  | { readonly kind: 'adopted'; readonly keys: EncryptionKeys }
  /** All of them are there. */
  | { readonly kind: 'known' }
  /** There is another key of this name, and what is stored says only the name. */
  | { readonly kind: 'clash'; readonly name: string };

/**
 * Takes keys of another cluster, or of another time, in among the retired ones: they are read with while a backup is
 * restored, and nothing is ever written under them. None is dropped for them: what is too many goes with the next rotation.
 */
export function adopt(keys: EncryptionKeys, others: readonly Key[]): Adoption {
  const own = keysIn(keys);
  const clash = others.find(({ name, secret }) => own.some((key) => key.name === name && key.secret !== secret));
  if (clash) return { kind: 'clash', name: clash.name };
  const missing = others.filter(({ name }) => !own.some((key) => key.name === name));
  if (missing.length === 0) return { kind: 'known' };
  return { kind: 'adopted', keys: { ...keys, retired: [...missing, ...keys.retired] } };
}

/** Every key there is, those in use first, each of them once. */
export function keysIn({ providers, retired }: Pick<EncryptionKeys, 'providers' | 'retired'>): Key[] {
  const all: readonly Key[] = [...providers.filter((provider) => provider !== identity), ...retired];
  return all.filter((key, index) => all.findIndex(({ name }) => name === key.name) === index);
}
