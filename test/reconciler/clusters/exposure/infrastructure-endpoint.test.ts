import type { CustomResourceDefinitionObject } from '../../../../imports/kubernetes.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import { CustomResourceDefinition, type Resource } from '../../../../constructs/api/resources.ts';
import {
  contractKind,
  infrastructureDefinitionName,
  publishToInfrastructure,
} from '../../../../reconciler/clusters/exposure/infrastructure-endpoint.ts';
import { RequestCaches } from '../../../../reconciler/engine/tasks/request-cache.ts';
import type { KubeClient } from '../../../../reconciler/kube/client.ts';
import { KubeError } from '../../../../reconciler/kube/errors.ts';
import type { KubeObject } from '../../../../reconciler/kube/object.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const endpoint = { host: 'c1.example.org', port: 443 };
const reference = { apiGroup: 'infra.example.org', kind: 'BoxCluster', name: 'c1' };
const definition = {
  apiVersion: CustomResourceDefinition.apiVersion,
  kind: CustomResourceDefinition.kind,
  metadata: { name: 'boxclusters.infra.example.org', labels: { 'cluster.x-k8s.io/v1beta2': 'v1' } },
  spec: {
    group: 'infra.example.org',
    names: { kind: 'BoxCluster', plural: 'boxclusters' },
    versions: [
      { name: 'v1', served: true, schema: { openAPIV3Schema: { 'x-kubernetes-preserve-unknown-fields': true } } },
    ],
  },
};
const box = { apiVersion: 'infra.example.org/v1', kind: 'BoxCluster', metadata: { name: 'c1', namespace: 'team' } };

/** An API server that has these two objects, and rejects as many writes as there are refusals. */
let refusals: KubeError[];
let reads: string[];
let written: KubeObject[];
const client: Pick<KubeClient, 'find' | 'apply'> = {
  async find<T extends KubeObject>({ kind }: Resource) {
    reads.push(kind);
    return (kind === CustomResourceDefinition.kind ? definition : box) as KubeObject as T;
  },
  async apply<T extends KubeObject>(object: T) {
    const refusal = refusals.shift();
    if (refusal) throw refusal;
    written.push(object);
    return object;
  },
};
beforeEach(() => {
  [refusals, reads, written] = [[], [], []];
});
const book = () => new RequestCaches(new ManualClock()).of('');
const publish = (requestCaches = book()) =>
  publishToInfrastructure({ client, requestCaches, namespace: 'team', reference }, endpoint);

const conflict = new KubeError('apply BoxCluster team/c1: modified', { code: 409, reason: 'Conflict' });
const forbidden = new KubeError('apply BoxCluster team/c1: forbidden', { code: 403, reason: 'Forbidden' });

describe('an endpoint for infrastructure', () => {
  it('is written again after a conflict with its provider', async () => {
    refusals = [conflict, conflict];
    expect(await publish()).toEqual({ endpoint });
    expect(written).toMatchObject([{ spec: { controlPlaneEndpoint: endpoint } }]);
    expect(reads.filter((kind) => kind === 'BoxCluster')).toHaveLength(3);
  });

  it('is left to a later reconcile after repeated conflicts', async () => {
    refusals = [conflict, conflict, conflict];
    await expect(publish()).rejects.toBe(conflict);
  });

  it('that the operator may not write is an error that names the missing permission', async () => {
    refusals = [forbidden];
    await expect(publish()).rejects.toThrow(
      "cannot write the endpoint to BoxCluster team/c1: bind a ClusterRole with the verbs get and patch on boxclusters.infra.example.org to the operator's ServiceAccount: apply BoxCluster team/c1: forbidden",
    );
  });

  it('of many Clusters reads the definition of their kind once', async () => {
    const requestCaches = book();
    await publish(requestCaches);
    await publish(requestCaches);
    expect(reads).toEqual([CustomResourceDefinition.kind, 'BoxCluster', 'BoxCluster']);
  });
});

const endpointSchema = {
  properties: { spec: { properties: { controlPlaneEndpoint: { properties: { host: {}, port: {} } } } } },
};
const preserving = { 'x-kubernetes-preserve-unknown-fields': true } as const;

function definitionOf(
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
    const kind = contractKind(definitionOf(labels, versions));
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
    const kind = contractKind(definitionOf({ 'cluster.x-k8s.io/v1beta2': 'v1' }, { v1: { schema } }));
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
