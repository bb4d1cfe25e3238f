import type { CustomResourceDefinitionObject } from '../../../imports/kubernetes.ts';
import { expect, it } from 'vitest';
import { CustomResourceDefinition, tlsRoutes, versionOf } from '../../../constructs/api/resources.ts';
import type { ObjectMeta } from '../../../reconciler/kube/object.ts';
import { servedVersions } from '../../../reconciler/kube/optional-api.ts';

const { apiVersion, kind } = CustomResourceDefinition;

function definition(
  versions: Record<string, boolean>,
  established = 'True',
  metadata: Partial<ObjectMeta> = {},
): CustomResourceDefinitionObject {
  return {
    apiVersion,
    kind,
    metadata: { name: 'tlsroutes.gateway.networking.k8s.io', ...metadata },
    spec: { versions: Object.entries(versions).map(([name, served]) => ({ name, served })) },
    status: { conditions: [{ type: 'Established', status: established }] },
  };
}

it.each<[string, CustomResourceDefinitionObject | undefined, string[]]>([
  ['no definition', undefined, []],
  ['a definition without status', { apiVersion, kind, metadata: { name: 'x' } }, []],
  ['one that is not established', definition({ v1: true }, 'False'), []],
  ['one that is being deleted', definition({ v1: true }, 'True', { deletionTimestamp: '2026-11-21T12:00:00Z' }), []],
  ['versions that are not served', definition({ v1: true, v1alpha2: false, v1alpha3: false }), ['v1']],
  ['versions in any order', definition({ v1alpha2: true, v1alpha3: true, v1: true }), ['v1', 'v1alpha3', 'v1alpha2']],
  ['an old installation', definition({ v1alpha2: true }), ['v1alpha2']],
  ['unknown versions', definition({ v9: true }), []],
])('the served versions of %s are found, the best first', (_, given, expected) => {
  expect(servedVersions(given, tlsRoutes).map(versionOf)).toEqual(expected);
});
