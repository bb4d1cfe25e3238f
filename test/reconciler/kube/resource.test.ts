import { describe, expect, it } from 'vitest';
import { ClusterRole, ConfigMap, Deployment, Namespace } from '../../../constructs/api/resources.ts';
import { describeTarget, objectPath, resourcePath, withQuery } from '../../../reconciler/kube/resource.ts';

describe('paths', () => {
  it.each([
    ['of the core group', objectPath(ConfigMap, { namespace: 'x', name: 'y' }), '/api/v1/namespaces/x/configmaps/y'],
    [
      'of other groups',
      objectPath(Deployment, { namespace: 'x', name: 'y' }),
      '/apis/apps/v1/namespaces/x/deployments/y',
    ],
    ['of cluster-wide objects', objectPath(Namespace, { name: 'y' }), '/api/v1/namespaces/y'],
    [
      'of names with capitals and colons',
      objectPath(ClusterRole, { name: 'system:Foo/bar' }),
      '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3AFoo%2Fbar',
    ],
    [
      'of subresources',
      objectPath(Deployment, { namespace: 'x', name: 'y' }, 'status'),
      '/apis/apps/v1/namespaces/x/deployments/y/status',
    ],
    ['of all namespaces', resourcePath(ConfigMap), '/api/v1/configmaps'],
    ['of one namespace', resourcePath(ConfigMap, { namespace: 'x' }), '/api/v1/namespaces/x/configmaps'],
    ['of a cluster-wide resource', resourcePath(Namespace, { namespace: 'x' }), '/api/v1/namespaces'],
    [
      'with parameters',
      withQuery('/a', { limit: 5, continue: undefined, labelSelector: 'a=b,c' }),
      '/a?limit=5&labelSelector=a%3Db%2Cc',
    ],
    ['without parameters', withQuery('/a', { continue: undefined }), '/a'],
  ])('%s', (_, path, expected) => {
    expect(path).toBe(expected);
  });

  it('refuse an object without its namespace or name', () => {
    expect(() => objectPath(ConfigMap, { name: 'y' })).toThrow('ConfigMap y has no namespace: set metadata.namespace');
    expect(() => objectPath(ConfigMap, { namespace: 'x', name: '' })).toThrow('ConfigMap has no name');
  });
});

describe('describeTarget', () => {
  it.each([
    [{ namespace: 'x', name: 'y' }, 'ConfigMap x/y'],
    [{ namespace: 'x', name: 'y', subresource: 'status' }, 'ConfigMap x/y (status)'],
    [{ namespace: 'x' }, 'configmaps in x'],
    [{}, 'configmaps'],
  ])('of %o', (target, expected) => {
    expect(describeTarget(ConfigMap, target)).toBe(expected);
  });
});
