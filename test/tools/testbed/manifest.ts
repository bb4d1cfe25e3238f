import type { KubeObject } from '../../../reconciler/kube/object.ts';

/** An object as it is applied, with the fields of its kind. */
export interface Manifest extends KubeObject {
  readonly [field: string]: unknown;
}

const group = 'rbac.authorization.k8s.io';

/** The subject of a grant. */
export type Subject =
  | { readonly kind: 'ServiceAccount'; readonly name: string; readonly namespace: string }
  | { readonly kind: 'User'; readonly name: string; readonly apiGroup: typeof group };

/** Grants a ClusterRole to one subject. */
export function clusterRoleBinding(name: string, role: string, subject: Subject): Manifest {
  return {
    apiVersion: `${group}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: role },
    subjects: [subject],
  };
}
