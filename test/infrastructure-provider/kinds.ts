import { CustomResourceDefinition, type Resource } from '../../constructs/api/resources.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';

/** The API group of all infrastructure of Cluster API. */
export const infrastructureGroup = 'infrastructure.cluster.x-k8s.io';

/** A kind of infrastructure, by its contract v1beta2 of Cluster API. */
export const infrastructureKind = (kind: string): Resource => ({
  apiVersion: `${infrastructureGroup}/v1beta1`,
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: true,
});

/** Provisioned as soon as it has been told the endpoint of its control plane. */
export const TestbedCluster = infrastructureKind('TestbedCluster');
export const TestbedClusterTemplate = infrastructureKind('TestbedClusterTemplate');
/** A machine of the testbed. */
export const TestbedMachine = infrastructureKind('TestbedMachine');
export const TestbedMachineTemplate = infrastructureKind('TestbedMachineTemplate');
/** Machines of the testbed that Cluster API counts and does not know one by one. */
export const TestbedMachinePool = infrastructureKind('TestbedMachinePool');

/** What the kinds begin with, as the variable INFRASTRUCTURE of templates for clusterctl. */
export const testbedPrefix = 'Testbed';

const text = { type: 'string' };
const initialization = { type: 'object', properties: { provisioned: { type: 'boolean' } } };
const conditions = { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
const object = (properties: object) => ({ type: 'object', properties });
const endpoint = object({ host: text, port: { type: 'integer', format: 'int32' } });
const address = object({ type: text, address: text });

const clusterSpec = object({ controlPlaneEndpoint: endpoint });
/** Room for a change of a template, which replaces machines and is otherwise ignored. */
const machineSpec = object({ providerID: text, size: text });
const templateOf = (spec: object) => object({ template: object({ metadata: anything(), spec }) });

const schemas: readonly (readonly [Resource, spec: object, status: object])[] = [
  [TestbedCluster, clusterSpec, object({ initialization, conditions })],
  [TestbedClusterTemplate, templateOf(clusterSpec), object({})],
  [TestbedMachine, machineSpec, object({ initialization, conditions, addresses: { type: 'array', items: address } })],
  [TestbedMachineTemplate, templateOf(machineSpec), object({})],
  [
    TestbedMachinePool,
    object({ providerIDList: { type: 'array', items: text }, size: text }),
    object({ initialization, conditions, replicas: { type: 'integer', format: 'int32' } }),
  ],
];

/** The kinds of this provider, with the schemas of their specs and statuses. */
export const testbedKinds: readonly ForeignKind[] = schemas.map(([resource, spec, status]) => ({
  resource,
  spec,
  status,
}));

/** A kind of an infrastructure provider. */
export interface ForeignKind {
  readonly resource: Resource;
  /** Schema of the spec. */
  readonly spec: object;
  /** Schema of the status. By default anything. */
  readonly status?: object;
}

/** The definition of a kind of an infrastructure provider. */
export function definitionOf({ resource, spec, status = anything() }: ForeignKind): KubeObject {
  return infrastructureDefinition(resource, { spec, status });
}

/** Installs kinds of infrastructure, and lets Cluster API use them. */
export async function installKinds(client: KubeClient, kinds: readonly ForeignKind[]): Promise<void> {
  for (const kind of kinds) await client.apply(definitionOf(kind), { fieldManager, force: true });
  await letClusterApiUse(client, 'testbed-infrastructure');
}

const fieldManager = 'testbed-infrastructure';

/** Lets Cluster API read and write all infrastructure. @param name of the ClusterRole */
export async function letClusterApiUse(client: KubeClient, name: string): Promise<void> {
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name, labels: { 'cluster.x-k8s.io/aggregate-to-manager': 'true' } },
    rules: [{ apiGroups: [infrastructureGroup], resources: ['*'], verbs: ['*'] }],
  };
  await client.apply(role, { fieldManager, force: true });
}

/** The definition of a kind of infrastructure. @param properties schemas of `spec` and `status` */
export function infrastructureDefinition({ kind, plural, apiVersion }: Resource, properties: object): KubeObject {
  const version = {
    name: apiVersion.split('/')[1],
    served: true,
    storage: true,
    subresources: { status: {} },
    schema: { openAPIV3Schema: object(properties) },
  };
  const definition = {
    apiVersion: CustomResourceDefinition.apiVersion,
    kind: CustomResourceDefinition.kind,
    metadata: {
      name: `${plural}.${infrastructureGroup}`,
      // the second one lets clusterctl move its objects
      labels: { 'cluster.x-k8s.io/v1beta2': 'v1beta1', 'clusterctl.cluster.x-k8s.io': '' },
    },
    spec: {
      group: infrastructureGroup,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      scope: 'Namespaced',
      versions: [version],
    },
  };
  return definition;
}

/** A schema without rules. */
export function anything(): object {
  return { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
}
