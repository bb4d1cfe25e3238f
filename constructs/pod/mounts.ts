import type { k8s } from 'cdk8s-plus-30';
import type { Mount } from '../api/mount-spec.ts';
import { definedOnly } from '../cluster/defined-only.ts';

/** A ConfigMap or Secret of the user that is mounted into the API server. */
export interface UserMount {
  readonly path: string;
  readonly kind: 'ConfigMap' | 'Secret';
  readonly object: string;
  readonly optional: boolean;
  readonly volume: k8s.Volume;
}

/** The user's mounts, sorted by name. A map has no order, and a changed order would replace every pod. */
export function mountsOf(mounts: Readonly<Record<string, Mount>> = {}): UserMount[] {
  return Object.entries(mounts)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, mount]) => userMount(`mount-${name}`, mount));
}

function userMount(name: string, { path, configMap, secret }: Mount): UserMount {
  if (configMap) {
    const { name: object, items, defaultMode, optional } = configMap;
    const source = { name: object, ...definedOnly({ items: files(items), defaultMode, optional }) };
    return { path, kind: 'ConfigMap', object, optional: optional ?? false, volume: { name, configMap: source } };
  }
  const { secretName = '', items, defaultMode, optional } = secret ?? {};
  const source = { secretName, ...definedOnly({ items: files(items), defaultMode, optional }) };
  return { path, kind: 'Secret', object: secretName, optional: optional ?? false, volume: { name, secret: source } };
}

type Items = NonNullable<Mount['configMap']>['items'];

function files(items: Items): k8s.KeyToPath[] | undefined {
  return items?.map(({ key, path, mode }) => ({ key, path, ...definedOnly({ mode }) }));
}
