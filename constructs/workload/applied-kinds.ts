import { type Resource, resourceOf } from '../api/resources.ts';
import type { RenderedObject } from '../control-plane/chart.ts';

/** Objects of one resource that are applied in one namespace of a hosted cluster, or cluster-wide. */
export interface AppliedKind {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly names: readonly string[];
}

/**
 * The kinds of rendered objects, without RBAC: who can write RBAC objects can do everything, so the operator's regular
 * identity must not.
 */
export function appliedKinds(objects: readonly RenderedObject[]): AppliedKind[] {
  const kinds = new Map<string, { resource: Resource; namespace: string | undefined; names: Set<string> }>();
  for (const { apiVersion, kind, metadata } of objects) {
    if (isRbac({ apiVersion })) continue;
    const { namespace, name } = metadata;
    const key = `${apiVersion} ${kind} ${namespace ?? ''}`;
    const found = kinds.get(key) ?? { resource: resourceOf({ apiVersion, kind }), namespace, names: new Set() };
    kinds.set(key, { ...found, names: found.names.add(name) });
  }
  return [...kinds.values()].map((kind) => ({ ...kind, names: [...kind.names].sort() }));
}

/** Whether the object grants permissions. */
export function isRbac({ apiVersion }: { readonly apiVersion: string }): boolean {
  return apiVersion.startsWith('rbac.authorization.k8s.io/');
}
