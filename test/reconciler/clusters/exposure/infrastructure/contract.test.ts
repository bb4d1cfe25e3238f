import type { CustomResourceDefinitionObject } from '../../../../../imports/kubernetes.ts';
import { describe, expect, it } from 'vitest';
import {
  contractKind,
  infrastructureDefinitionName,
} from '../../../../../reconciler/clusters/exposure/infrastructure/contract.ts';

const endpointSchema = {
  properties: { spec: { properties: { controlPlaneEndpoint: { properties: { host: {}, port: {} } } } } },
};
const preserving = { 'x-kubernetes-preserve-unknown-fields': true } as const;

function definition(
  labels: Record<string, string>,
  versions: Record<string, { served?: boolean; schema?: object }>,
): CustomResourceDefinitionObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'boxclusters.infra.example.org', labels },
    spec: {
      group: 'infra.example.org',
      names: { kind: 'BoxCluster', plural: 'boxclusters' },
      versions: Object.entries(versions).map(([name, { served = true, schema = endpointSchema }]) => ({
        name,
        served,
        schema: { openAPIV3Schema: schema },
      })),
    },
  };
}

describe('the version to write', () => {
  const both = { v1beta1: {}, v1beta2: {} };
  it.each<[string, Record<string, string>, Record<string, { served?: boolean }>, string | undefined]>([
    ['is the newest of the newest contract', { 'cluster.x-k8s.io/v1beta2': 'v1beta1_v1beta2' }, both, 'v1beta2'],
    [
      'is compared as a version, not as a text',
      { 'cluster.x-k8s.io/v1beta2': 'v1beta2_v1' },
      { v1: {}, v1beta2: {} },
      'v1',
    ],
    [
      'is of the newer contract if there are two',
      { 'cluster.x-k8s.io/v1beta1': 'v1beta2', 'cluster.x-k8s.io/v1beta2': 'v1beta1' },
      both,
      'v1beta1',
    ],
    ['is of the older contract if there is only that', { 'cluster.x-k8s.io/v1beta1': 'v1beta1' }, both, 'v1beta1'],
    [
      'is a served version',
      { 'cluster.x-k8s.io/v1beta2': 'v1beta1_v1beta2' },
      { v1beta1: {}, v1beta2: { served: false } },
      'v1beta1',
    ],
    ['is unknown without a contract', {}, both, undefined],
  ])('%s', (_, labels, versions, expected) => {
    const kind = contractKind(definition(labels, versions));
    expect(kind?.resource.apiVersion).toBe(expected && `infra.example.org/${expected}`);
  });
});

describe('an endpoint', () => {
  it.each<[string, object, boolean]>([
    ['is accepted if the schema has it', endpointSchema, true],
    ['is accepted if the spec takes any field', { properties: { spec: preserving } }, true],
    ['is accepted if the object takes any field', preserving, true],
    ['is not accepted if the schema lacks it', { properties: { spec: { properties: { region: {} } } } }, false],
    ['is not accepted if there is no schema', {}, false],
  ])('%s', (_, schema, expected) => {
    const kind = contractKind(definition({ 'cluster.x-k8s.io/v1beta2': 'v1' }, { v1: { schema } }));
    expect(kind?.hasEndpoint).toBe(expected);
  });
});

it.each([
  ['OpenStackCluster', 'openstackclusters.infra.example.org'],
  ['KubevirtMachineProxy', 'kubevirtmachineproxies.infra.example.org'],
  ['Box', 'boxes.infra.example.org'],
  ['Tray', 'trays.infra.example.org'],
])('the definition of %s is named %s', (kind, name) => {
  expect(infrastructureDefinitionName({ apiGroup: 'infra.example.org', kind })).toBe(name);
});
