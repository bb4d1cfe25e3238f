import { ClusterRole, ClusterRoleBinding, groupOf, Role, RoleBinding } from '../../../constructs/api/resources.ts';
import { isAllowed, type UserInfo } from '../../../reconciler/clusters/dry-run/review.ts';
import type { PolicyRule } from '../memory-cluster/authorizer.ts';
import { until } from '../until.ts';
import { type AnyObject, type KubeCaseContext, us } from './kube-case.ts';

/** The user of a case, by default without rights. */
export const caseUser = (namespace: string): string => `jane-of-${namespace}`;

interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

export interface Grant {
  readonly rules: readonly PolicyRule[];
  readonly where: 'namespace' | 'cluster role in namespace' | 'cluster';
  /** By default the user of the case. */
  readonly subjects?: readonly Subject[];
  /** Only the binding. */
  readonly withoutRole?: boolean;
}

/** Grants these rights, and resolves when the API server knows them: a real one sees roles a moment after it has stored them. */
export async function granted({ client, namespace }: KubeCaseContext, grant: Grant): Promise<void> {
  const { rules, where, withoutRole = false } = grant;
  const { subjects = [{ kind: 'User', name: caseUser(namespace) }] } = grant;
  const apiGroup = groupOf(Role);
  const role = where === 'namespace' ? Role : ClusterRole;
  const binding = where === 'cluster' ? ClusterRoleBinding : RoleBinding;
  const name = where === 'namespace' ? 'namespace' : `${where.replaceAll(' ', '-')}-${namespace}`;
  const place = { name, namespace };
  const forced = { ...us, force: true };
  const roleObject: AnyObject = {
    apiVersion: role.apiVersion,
    kind: role.kind,
    metadata: role.namespaced ? place : { name },
    rules,
  };
  const bindingObject: AnyObject = {
    apiVersion: binding.apiVersion,
    kind: binding.kind,
    metadata: binding.namespaced ? place : { name },
    roleRef: { apiGroup, kind: role.kind, name },
    subjects: subjects.map((one) => (one.kind === 'ServiceAccount' ? one : { apiGroup, ...one })),
  };
  if (!withoutRole) await client.apply(roleObject, forced);
  await client.apply(bindingObject, forced);
  if (withoutRole) return;
  for (const subject of subjects) {
    for (const rule of rules) {
      const what = { resourceAttributes: requestOf(rule, where === 'cluster' ? '' : namespace) };
      await until(`${subject.name} to have a right`, () => isAllowed(userOf(subject), what, client));
    }
  }
}

/** A user whom the subject means. */
function userOf({ kind, name, namespace }: Subject): UserInfo {
  if (kind === 'Group') return { username: 'member', groups: [name] };
  return { username: kind === 'User' ? name : `system:serviceaccount:${namespace}:${name}` };
}

/** A request that the rule permits. */
function requestOf({ verbs, apiGroups = [], resources = [], resourceNames = [] }: PolicyRule, namespace: string) {
  const [resource = '', subresource] = resources[0]?.split('/') ?? [];
  const [[verb = ''], [group = ''], [name = '']] = [verbs, apiGroups, resourceNames];
  return { namespace, verb, group, resource, name, ...(subresource !== undefined && { subresource }) };
}
