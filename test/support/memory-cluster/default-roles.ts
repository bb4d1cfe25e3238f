import { ClusterRole, ClusterRoleBinding, groupOf } from '../../../constructs/api/resources.ts';
import type { BindingObject, PolicyRule, RoleObject } from './authorizer.ts';

const health = ['/healthz', '/livez', '/readyz'];

/** The part of the roles that every API server creates for itself which the operator's users need. */
export const defaultRoles: readonly RoleObject[] = [
  role('system:public-info-viewer', [{ verbs: ['get'], nonResourceURLs: [...health, '/version', '/version/'] }]),
  role('system:discovery', [
    {
      verbs: ['get'],
      nonResourceURLs: [
        ...health,
        '/version',
        '/version/',
        '/api',
        '/api/*',
        '/apis',
        '/apis/*',
        '/openapi',
        '/openapi/*',
      ],
    },
  ]),
  role('system:basic-user', [
    {
      verbs: ['create'],
      apiGroups: ['authorization.k8s.io'],
      resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
    },
    { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
  ]),
  role('system:monitoring', [
    {
      verbs: ['get'],
      nonResourceURLs: [...health.flatMap((path) => [path, `${path}/*`]), '/metrics', '/metrics/slis'],
    },
  ]),
  role('system:service-account-issuer-discovery', [
    { verbs: ['get'], nonResourceURLs: ['/.well-known/openid-configuration', '/openid/v1/jwks'] },
  ]),
  role('cluster-admin', [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    { verbs: ['*'], nonResourceURLs: ['*'] },
  ]),
];

/** Who has them from the start. */
export const defaultBindings: readonly BindingObject[] = [
  binding('system:public-info-viewer', 'system:authenticated'),
  binding('system:discovery', 'system:authenticated'),
  binding('system:basic-user', 'system:authenticated'),
  binding('system:service-account-issuer-discovery', 'system:serviceaccounts'),
];

function role(name: string, rules: readonly PolicyRule[]): RoleObject {
  const { apiVersion, kind } = ClusterRole;
  return { apiVersion, kind, metadata: { name }, rules };
}

function binding(name: string, group: string): BindingObject {
  const { apiVersion, kind } = ClusterRoleBinding;
  const apiGroup = groupOf(ClusterRole);
  const roleRef = { apiGroup, kind: ClusterRole.kind, name };
  return { apiVersion, kind, metadata: { name }, roleRef, subjects: [{ kind: 'Group', name: group }] };
}
