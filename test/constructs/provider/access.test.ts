import { describe, expect, it } from 'vitest';
import { kubeconfigSigner } from '../../../constructs/api/kubeconfig-request.ts';
import { Lease, Pod, type Resource, resourceOf } from '../../../constructs/api/resources.ts';
import { rulesOf } from '../../../constructs/cluster/access-rules.ts';
import { providerNames, providerNamespace, sharedRoleOf } from '../../../constructs/cluster/provider-names.ts';
import { renderProvider } from '../../../constructs/provider/chart.ts';
import {
  controlPlaneAccess,
  managerAccess,
  ownNamespaceAccess,
  renderedResources,
  sharedAccess,
} from '../../../constructs/provider/access.ts';
import { backupIdentityAccess } from '../../../constructs/provider/granted-access.ts';
import { watchedResources } from '../../../reconciler/clusters/management/cache.ts';
import { renderSamples } from '../../support/rendered-objects.ts';

const samples = await renderSamples();
const access = managerAccess();

const verbsOn = (resource: Resource) =>
  access.filter((entry) => entry.resource === resource && !entry.subresource).flatMap(({ verbs }) => verbs);

describe('the rights of the operator', () => {
  it('cover exactly the kinds that sample clusters render', () => {
    const rendered = new Set(samples.flatMap(({ objects }) => objects.map(resourceOf)));
    expect(new Set(renderedResources())).toEqual(rendered);
  });

  it.each(renderedResources())('let it apply, watch and delete $plural', (resource) => {
    expect(verbsOn(resource)).toEqual(expect.arrayContaining(['list', 'watch', 'create', 'patch', 'delete']));
  });

  it.each(watchedResources)('let it watch $plural, as it does', (resource) => {
    expect(verbsOn(resource)).toEqual(expect.arrayContaining(['list', 'watch']));
  });

  it('have a reason each', () => {
    expect(access.filter(({ why }) => why === '')).toEqual([]);
  });

  it('contain no verb, group or kind that would allow it to read or change everything, apart from infrastructure', () => {
    const rules = [...rulesOf(access), ...rulesOf(ownNamespaceAccess)];
    expect(rules.flatMap(({ apiGroups, verbs }) => [...apiGroups, ...verbs])).not.toContain('*');
    expect(rules.filter(({ resources }) => resources.includes('*'))).toEqual([
      { apiGroups: ['infrastructure.cluster.x-k8s.io'], resources: ['*'], verbs: ['get', 'patch'] },
    ]);
    const onNodes = rules.filter(({ resources }) => resources.some((name) => name.startsWith('nodes')));
    expect(onNodes.map(({ resources, verbs }) => [resources, verbs])).toEqual([
      [
        ['namespaces', 'nodes'],
        ['list', 'watch'],
      ],
    ]);
  });

  it('include no token of a ServiceAccount, except where an administrator binds the role for it', () => {
    expect(rulesOf(access).flatMap(({ resources }) => resources)).not.toContain('serviceaccounts/token');
    expect(rulesOf(backupIdentityAccess)).toEqual([
      { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['get'] },
      { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] },
    ]);
    const bindings = renderProvider().filter(({ kind }) => kind.endsWith('Binding'));
    expect(JSON.stringify(bindings)).not.toContain(providerNames.backupIdentityRole);
  });

  it('reach Leases and its own pod in its own namespace only', () => {
    expect(ownNamespaceAccess.map(({ resource }) => resource)).toEqual([Lease, Pod]);
    expect(access.map(({ resource }) => resource)).not.toContain(Lease);
  });
});

describe('the rights of an operator for one namespace', () => {
  const objects = renderProvider({ watchNamespace: 'team' });
  const manager = { kind: 'ServiceAccount', name: providerNames.serviceAccount, namespace: providerNamespace };
  const bound = objects
    .filter(({ kind }) => kind.endsWith('Binding'))
    .filter((object) => JSON.stringify(object['subjects']) === JSON.stringify([manager]))
    .map((object) => object['roleRef'] as { readonly kind: string; readonly name: string });
  const rulesIn = (kind: string, name: string, namespace?: string) =>
    objects.find(
      ({ kind: of, metadata }) => of === kind && metadata.name === name && metadata.namespace === namespace,
    )?.['rules'];

  it('come from a Role there, from one in its own namespace, and from a ClusterRole of that name', () => {
    expect(bound.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'Role capi-hosted-control-plane-manager',
      'ClusterRole capi-hosted-control-plane-manager-team',
      'Role capi-hosted-control-plane-leader-election',
    ]);
    expect(rulesIn('Role', providerNames.managerRole, 'team')).toEqual(rulesOf(controlPlaneAccess()));
    expect(rulesIn('Role', providerNames.leaderElectionRole, providerNamespace)).toEqual(rulesOf(ownNamespaceAccess));
  });

  it('in other namespaces only read what control planes share, answer requests for kubeconfigs, and ask who may do what', () => {
    const all = rulesIn('ClusterRole', sharedRoleOf('team')) as ReturnType<typeof rulesOf>;
    expect(all).toEqual(rulesOf(sharedAccess('team')));
    const isReview = ({ apiGroups }: (typeof all)[number]) =>
      apiGroups.some((group) => /^auth[a-z]+\.k8s\.io$/.test(group));
    const isAnswer = ({ apiGroups }: (typeof all)[number]) => apiGroups.includes('certificates.k8s.io');
    const rules = all.filter((rule) => !isReview(rule) && !isAnswer(rule));
    // A review changes nothing.
    expect(all.filter(isReview).map(({ resources, verbs }) => [...resources, ...verbs].join(' '))).toEqual([
      'tokenreviews create',
      'subjectaccessreviews create',
    ]);
    // The API server lets it approve and sign for its own signer only, whatever it may patch.
    const apiGroups = ['certificates.k8s.io'];
    const requests = 'certificatesigningrequests';
    expect(all.filter(isAnswer)).toEqual([
      { apiGroups, resources: [requests], verbs: ['list', 'watch'] },
      { apiGroups, resources: [`${requests}/approval`, `${requests}/status`], verbs: ['patch'] },
      { apiGroups, resources: ['signers'], resourceNames: [kubeconfigSigner], verbs: ['approve', 'sign'] },
    ]);
    expect(new Set(rules.flatMap(({ verbs }) => verbs))).toEqual(new Set(['get', 'list', 'watch']));
    expect(rules.flatMap(({ resources }) => resources).sort()).toEqual([
      'customresourcedefinitions',
      'customresourcedefinitions',
      'endpointslices',
      'gateways',
      'namespaces',
      'nodes',
      'persistentvolumes',
      'servicecidrs',
      'services',
      'tlsroutes',
    ]);
    expect(rules.find(({ resources }) => resources.includes('namespaces'))).toMatchObject({ resourceNames: ['team'] });
  });

  it('let it watch everything that it watches', () => {
    const granted = [...controlPlaneAccess(), ...sharedAccess('team')];
    const verbsFor = (resource: Resource) =>
      granted.filter((entry) => entry.resource === resource).flatMap(({ verbs }) => verbs);
    const unwatched = watchedResources.filter(
      (resource) => !verbsFor(resource).includes('list') || !verbsFor(resource).includes('watch'),
    );
    expect(unwatched).toEqual([]);
  });
});
