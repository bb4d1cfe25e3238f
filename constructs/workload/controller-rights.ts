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
  /** What it applies. */
  readonly applied: readonly AppliedKind[];
}

/**
 * What our own client may do in the hosted cluster: write the objects that are rendered, by their names, and watch what
 * tells when to. It can neither grant rights, not even to itself, nor delete anything: both are rare, and done as an
 * administrator who is made for the moment.
 */
export class ControllerRights extends Construct {
  constructor(scope: Construct, id: string, { applied }: ControllerRightsProps) {
    super(scope, id);

    const accessIn = (namespace: string | undefined) =>
      applied.filter((kind) => kind.namespace === namespace).flatMap(accessTo);
    new Grant(this, 'everywhere', { name, rules: rulesOf([...watched, ...accessIn(undefined)]), subjects });
    // Which encryption configuration an API server has loaded is told by its metrics alone.
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
    why: 'somebody may take rights away',
  })),
  { resource: Node, verbs: watch, why: 'their number decides how many pods there are' },
  { resource: Node, verbs: ['get'], why: 'their addresses decide what a kubelet may serve as' },
  { resource: CertificateSigningRequest, verbs: watch, why: 'kubelets ask for certificates' },
  {
    resource: CertificateSigningRequest,
    subresource: 'approval',
    verbs: ['patch'],
    why: 'a kubelet gets a certificate to serve with, for itself only',
  },
  { resource: Signer, names: [kubeletServingSigner], verbs: ['approve'], why: 'and of no other signer' },
];

const firstServiceAccount: Access = {
  resource: ServiceAccount,
  names: ['default'],
  verbs: watch,
  why: 'controllers work when they have made it',
};

const slices: Access = {
  resource: EndpointSlice,
  verbs: watch,
  why: 'those that proxies leave to Service kubernetes lead nowhere',
};

function accessTo({ resource, names }: AppliedKind): Access[] {
  return [
    { resource, verbs: watch, why: 'drift is put right when it happens' },
    { resource, names, verbs: ['create', 'patch'], why: 'rendered' },
  ];
}
