import { describe, expect, it } from 'vitest';
import { Lease, Pod, type Resource, resourceOf } from '../../../constructs/api/resources.ts';
import { rulesOf } from '../../../constructs/cluster/access-rules.ts';
import { providerNames } from '../../../constructs/cluster/provider-names.ts';
import { renderProvider } from '../../../constructs/provider/chart.ts';
import {
  backupIdentityAccess,
  furtherAccess,
  managerAccess,
  ownNamespaceAccess,
  renderedResources,
} from '../../../constructs/provider/access.ts';
import { watchedResources } from '../../../reconciler/management/cache.ts';
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

  it('have a reason for every kind that no chart renders, and for no other', () => {
    const granted = new Set(access.map(({ resource }) => resource));
    expect(granted).toEqual(new Set([...renderedResources(), ...furtherAccess.map(({ resource }) => resource)]));
    expect(furtherAccess.filter(({ why }) => why === '')).toEqual([]);
  });

  it('contain no verb, group or kind that would allow it to read or change everything, apart from infrastructure', () => {
    const rules = [...rulesOf(access), ...rulesOf(ownNamespaceAccess)];
    expect(rules.flatMap(({ apiGroups, verbs }) => [...apiGroups, ...verbs])).not.toContain('*');
    expect(rules.filter(({ resources }) => resources.includes('*'))).toEqual([
      { apiGroups: ['infrastructure.cluster.x-k8s.io'], resources: ['*'], verbs: ['get', 'patch'] },
    ]);
    const onNodes = rules.filter(({ resources }) => resources.some((name) => name.startsWith('nodes')));
    expect(onNodes.map(({ resources, verbs }) => [resources, verbs])).toEqual([[['nodes'], ['list']]]);
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
