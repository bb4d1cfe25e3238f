import { backupAccess, restoreAccessLabel } from '../../../constructs/api/group.ts';
import type { KubeObject } from '../../kube/object.ts';
import { listed } from '../../clusters/management/listed.ts';

/**
 * Whether the owner of a Secret lets another namespace use it: the annotation names it among others, or the label alone.
 * A label of Kubernetes cannot hold a list.
 */
export function mayUse(namespace: string, { metadata }: KubeObject): boolean {
  const namespaces = listed(metadata, backupAccess);
  return namespaces.includes(namespace) || namespaces.includes(anyNamespace) || isNamedAlone(namespace, metadata);
}

const anyNamespace = '*';

/**
 * Whether the owner of a Secret lets another namespace restore the backups of a third one. Only for the namespace in the
 * label: beside a list, the permission would be for every namespace of the list.
 */
export function mayRestore(namespace: string, of: string, { metadata }: KubeObject): boolean {
  return of === namespace || (isNamedAlone(namespace, metadata) && metadata.labels?.[restoreAccessLabel] === of);
}

function isNamedAlone(namespace: string, { labels }: KubeObject['metadata']): boolean {
  return labels?.[backupAccess] === namespace;
}
