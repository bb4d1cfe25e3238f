import { describe, expect, it } from 'vitest';
import { renderWorkload } from '../../../constructs/workload/chart.ts';
import { serviceAccounts, users } from '../../../constructs/cluster/workload-identities.ts';
import { planCertificates } from '../../../constructs/control-plane/certificates/certificate-plans.ts';
import { clusterOf, knownFacts } from '../../support/rendered-cluster.ts';

interface Granting {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects: readonly { readonly kind: string; readonly name: string }[];
  readonly rules?: readonly {
    readonly resources: string[];
    readonly resourceNames?: string[];
    readonly verbs: string[];
  }[];
}

const rightsIn = (spec: object = {}) =>
  renderWorkload(clusterOf({ spec }), knownFacts, 'rbac') as unknown as readonly Granting[];
const objects = rightsIn();
const bindingsOf = (rights: readonly Granting[]) => rights.filter(({ kind }) => kind.endsWith('Binding'));
const bindings = bindingsOf(objects);
const subjects = (kind: string) =>
  new Set(
    bindings.flatMap((binding) => binding.subjects.filter((subject) => subject.kind === kind)).map(({ name }) => name),
  );

describe('rights in the hosted cluster', () => {
  it('bind roles of their own or of Kubernetes itself', () => {
    const roleOf = (kind: string, name: string, namespace = '') =>
      `${kind} ${kind === 'Role' ? namespace : ''}/${name}`;
    const own = objects
      .filter(({ kind }) => !kind.endsWith('Binding'))
      .map(({ kind, metadata }) => roleOf(kind, metadata.name, metadata.namespace));
    const bound = bindings.map(({ roleRef, metadata }) => roleOf(roleRef.kind, roleRef.name, metadata.namespace));
    const kubernetes = bound.filter((role) => !own.includes(role));
    expect(own.filter((role) => !bound.includes(role))).toEqual([]);
    expect([...new Set(kubernetes)].sort()).toEqual([
      'ClusterRole /cluster-admin',
      'ClusterRole /system:auth-delegator',
      'ClusterRole /system:certificates.k8s.io:certificatesigningrequests:nodeclient',
      'ClusterRole /system:certificates.k8s.io:certificatesigningrequests:selfnodeclient',
      'ClusterRole /system:kubelet-api-admin',
      'ClusterRole /system:monitoring',
      'ClusterRole /system:node-bootstrapper',
      'ClusterRole /system:node-proxier',
    ]);
  });

  it('are granted to users in certificates, and to anonymous users for cluster-info only', () => {
    const { endpoint, konnectivityEndpoint } = knownFacts;
    const issued = planCertificates(clusterOf(), endpoint, konnectivityEndpoint).map(({ commonName }) => commonName);
    expect(subjects('User')).toEqual(new Set([...Object.values(users), 'system:anonymous']));
    expect(issued).toEqual(expect.arrayContaining(Object.values(users)));
  });

  it('are granted to the service accounts of the add-ons', () => {
    expect(subjects('ServiceAccount')).toEqual(new Set(Object.values(serviceAccounts)));
  });

  it('are granted only to the groups of machines and administrators of kubeadm, and never to system:masters', () => {
    expect([...subjects('Group')].sort()).toEqual([
      'kubeadm:cluster-admins',
      'system:bootstrappers:kubeadm:default-node-token',
      'system:nodes',
    ]);
  });

  it('allow no subject to read all ConfigMaps or Secrets, nor to grant rights', () => {
    const rules = objects.flatMap(({ rules = [] }) => rules);
    const readers = rules.filter(({ resources, verbs }) => resources.includes('configmaps') && verbs.includes('get'));
    expect(readers.filter(({ resourceNames }) => !resourceNames?.length)).toEqual([]);
    expect(rules.flatMap(({ resources }) => resources)).not.toContain('secrets');
    const powers = rules.flatMap(({ verbs }) => verbs);
    expect(powers.filter((verb) => ['*', 'escalate', 'bind', 'impersonate'].includes(verb))).toEqual([]);
  });

  // kubeadm's table: the requests of a joining machine, each with the role it needs.
  it.each([
    ['ClusterRoleBinding', 'kubeadm:kubelet-bootstrap', 'system:node-bootstrapper', bootstrappers()],
    ['ClusterRoleBinding', 'kubeadm:node-autoapprove-bootstrap', `${csr()}:nodeclient`, bootstrappers()],
    [
      'ClusterRoleBinding',
      'kubeadm:node-autoapprove-certificate-rotation',
      `${csr()}:selfnodeclient`,
      ['system:nodes'],
    ],
    ['ClusterRoleBinding', 'kubeadm:get-nodes', 'kubeadm:get-nodes', bootstrappers()],
    ['ClusterRoleBinding', 'kubeadm:cluster-admins', 'cluster-admin', ['kubeadm:cluster-admins']],
    [
      'RoleBinding',
      'kubeadm:bootstrap-signer-clusterinfo',
      'kubeadm:bootstrap-signer-clusterinfo',
      ['system:anonymous'],
    ],
    ['RoleBinding', 'kubeadm:kubelet-config', 'kubeadm:kubelet-config', ['system:nodes', ...bootstrappers()]],
    [
      'RoleBinding',
      'kubeadm:nodes-kubeadm-config',
      'kubeadm:nodes-kubeadm-config',
      ['system:nodes', ...bootstrappers()],
    ],
  ])('contain the %s %s as kubeadm creates it', (kind, name, role, wanted) => {
    const [binding] = bindings.filter((candidate) => candidate.kind === kind && candidate.metadata.name === name);
    expect(binding?.roleRef.name).toBe(role);
    expect(binding?.subjects.map((subject) => subject.name)).toEqual(wanted);
  });

  it.each([
    ['kubeProxy', serviceAccounts.kubeProxy],
    ['coredns', serviceAccounts.coredns],
    ['konnectivityClient', serviceAccounts.konnectivityAgent],
  ])('are removed with the add-on if %s is disabled', (field, account) => {
    const granted = bindingsOf(rightsIn({ [field]: { disabled: true } })).flatMap((binding) => binding.subjects);
    expect(granted.map(({ name }) => name)).not.toContain(account);
  });
});

function bootstrappers(): string[] {
  return ['system:bootstrappers:kubeadm:default-node-token'];
}

function csr(): string {
  return 'system:certificates.k8s.io:certificatesigningrequests';
}
