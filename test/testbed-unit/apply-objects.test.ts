import { expect, test } from 'vitest';
import { resourceFor } from '../testbed/apply-objects.ts';
import { traefikObjects } from '../testbed/traefik-objects.ts';

const object = (kind: string, namespace?: string) => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'a', ...(namespace && { namespace }) },
});

test.for([
  ['Deployment', 'deployments'],
  ['GatewayClass', 'gatewayclasses'],
  ['ValidatingAdmissionPolicy', 'validatingadmissionpolicies'],
  ['Gateway', 'gateways'],
])('%s is requested as %s', ([kind = '', plural]) => {
  expect(resourceFor(object(kind)).plural).toBe(plural);
});

test('an object without a namespace is cluster-wide', () => {
  expect(resourceFor(object('Secret', 'b')).namespaced).toBe(true);
  expect(resourceFor(object('Namespace')).namespaced).toBe(false);
});

test('every role of Traefik is granted to its pod', () => {
  const roles = ['one', 'two'].map((name) => ({ ...object('ClusterRole'), metadata: { name } }));
  const bindings = traefikObjects('image', '10.0.0.1', roles).filter(({ kind }) => kind === 'ClusterRoleBinding');
  const subjects = [{ kind: 'ServiceAccount', name: 'traefik', namespace: 'traefik' }];
  expect(bindings).toMatchObject([
    { roleRef: { name: 'one' }, subjects },
    { roleRef: { name: 'two' }, subjects },
  ]);
});
