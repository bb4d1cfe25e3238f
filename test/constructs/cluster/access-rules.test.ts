import { describe, expect, it } from 'vitest';
import { rulesOf } from '../../../constructs/cluster/access-rules.ts';
import { Deployment, Event, Secret } from '../../../constructs/api/resources.ts';

describe('rules', () => {
  it('are merged: one per group and set of verbs', () => {
    const rules = rulesOf([
      { resource: Event, verbs: ['create'], why: '' },
      { resource: Secret, verbs: ['delete', 'list'], why: '' },
      { resource: Deployment, verbs: ['patch'], why: '' },
      { resource: Deployment, subresource: 'scale', verbs: ['patch'], why: '' },
      { resource: Secret, verbs: ['get', 'list'], why: '' },
    ]);
    expect(rules).toEqual([
      { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'delete'] },
      { apiGroups: ['apps'], resources: ['deployments', 'deployments/scale'], verbs: ['patch'] },
      { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create'] },
    ]);
  });

  it('are restricted to names if an access is, and only then', () => {
    const rules = rulesOf([
      { resource: Secret, verbs: ['list'], why: '' },
      { resource: Secret, names: ['b', 'a'], verbs: ['patch'], why: '' },
      { resource: Secret, names: ['a', 'b', 'a'], verbs: ['create'], why: '' },
    ]);
    expect(rules).toEqual([
      { apiGroups: [''], resources: ['secrets'], verbs: ['list'] },
      { apiGroups: [''], resources: ['secrets'], resourceNames: ['a', 'b'], verbs: ['create', 'patch'] },
    ]);
  });
});
