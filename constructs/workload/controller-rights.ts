import { Construct } from 'constructs';
import { type Access, rulesOf, type Verb } from '../cluster/access-rules.ts';
import {
  CertificateSigningRequest,
  ClusterRole,
  ClusterRoleBinding,
  EndpointSlice,
  Node,
  Role,
  RoleBinding,
  ServiceAccount,
  Signer,
} from '../api/resources.ts';
import type { AppliedKind } from './applied-kinds.ts';
import { Binding, Grant, user } from './grants.ts';
import { kubeletServingSigner, users } from '../cluster/workload-identities.ts';

const name = 'hosted-control-plane:controller';
const subjects = [user(users.controller)];
const watch: readonly Verb[] = ['list', 'watch'];

export interface ControllerRightsProps {
  /** Kinds that the operator's client applies. */
  readonly applied: readonly AppliedKind[];
}

/**
 * Permissions of the operator's client in the hosted cluster: it writes the rendered objects, by name, and watches what
 * triggers a reconcile. It can neither grant permissions, not even to itself, nor delete objects. Both are rare, and
 * the operator does them with a short-lived administrator identity.
 */
export class ControllerRights extends Construct {
  constructor(scope: Construct, id: string, { applied }: ControllerRightsProps) {
    super(scope, id);

    const accessIn = (namespace: string | undefined) =>
      applied.filter((kind) => kind.namespace === namespace).flatMap(accessTo);
    new Grant(this, 'everywhere', { name, rules: rulesOf([...watched, ...accessIn(undefined)]), subjects });
    // Only the metrics of an API server show which encryption configuration it has loaded.
    new Binding(this, 'metrics', { name: `${name}:metrics`, clusterRole: 'system:monitoring', subjects });
    const namespaces = new Set(applied.flatMap(({ namespace }) => namespace ?? []));
    for (const namespace of [...namespaces.add('default')].sort()) {
      const own = namespace === 'default' ? [firstServiceAccount, slices] : [];
      new Grant(this, namespace, { name, namespace, rules: rulesOf([...own, ...accessIn(namespace)]), subjects });
    }
  }
}

const watched: readonly Access[] = [
  ...[ClusterRole, ClusterRoleBinding, Role, RoleBinding].map((resource): Access => ({
    resource,
    verbs: watch,
    why: 'restoring permissions that a user has removed',
  })),
  { resource: Node, verbs: watch, why: 'their number determines the replicas of add-ons' },
  { resource: Node, verbs: ['get'], why: 'their addresses determine the names in a serving certificate of a kubelet' },
  { resource: CertificateSigningRequest, verbs: watch, why: 'kubelets request certificates' },
  {
    resource: CertificateSigningRequest,
    subresource: 'approval',
    verbs: ['patch'],
    why: 'approving serving certificates that kubelets request for themselves',
  },
  { resource: Signer, names: [kubeletServingSigner], verbs: ['approve'], why: 'approval is limited to this signer' },
];

const firstServiceAccount: Access = {
  resource: ServiceAccount,
  names: ['default'],
  verbs: watch,
  why: 'it exists once the controllers work',
};

const slices: Access = {
  resource: EndpointSlice,
  verbs: watch,
  why: 'deleting stale EndpointSlices of Service kubernetes',
};

function accessTo({ resource, names }: AppliedKind): Access[] {
  return [
    { resource, verbs: watch, why: 'reverting changes by others immediately' },
    { resource, names, verbs: ['create', 'patch'], why: 'rendered' },
  ];
}
