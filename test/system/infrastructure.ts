import { CustomResourceDefinition, type Resource } from '../../constructs/api/resources.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import { isNotFound } from '../../reconciler/kube/errors.ts';
import type { KubeObject, ObjectName } from '../../reconciler/kube/object.ts';
import { until } from '../support/until.ts';

const group = 'infrastructure.cluster.x-k8s.io';

const stub = (kind: string): Resource => ({
  apiVersion: `${group}/v1beta1`,
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: true,
});

/** The smallest object that Cluster API accepts as infrastructure: it reports that it is provisioned. */
const StubCluster = stub('StubCluster');
const StubClusterTemplate = stub('StubClusterTemplate');
/** A machine that is not provisioned until a test provisions it. */
const StubMachine = stub('StubMachine');
const StubMachineTemplate = stub('StubMachineTemplate');

const fieldManager = 'test';
const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** The infrastructure that a Cluster references. */
export const infrastructureRef = (name: string) => ({ apiGroup: group, kind: StubCluster.kind, name });

/** The infrastructure that a MachineDeployment references. */
export const machineTemplateRef = (name: string) => ({ apiGroup: group, kind: StubMachineTemplate.kind, name });

/** Installs the kinds, and lets Cluster API read and write them. */
export async function installInfrastructure(client: KubeClient): Promise<void> {
  for (const resource of [StubCluster, StubClusterTemplate, StubMachine, StubMachineTemplate]) {
    await client.apply(definition(resource), { fieldManager, force: true });
  }
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'stub-infrastructure', labels: { 'cluster.x-k8s.io/aggregate-to-manager': 'true' } },
    rules: [{ apiGroups: [group], resources: ['*'], verbs: ['*'] }],
  };
  await client.apply(role, { fieldManager, force: true });
}

/** Creates infrastructure that is provisioned from the start. */
export async function createInfrastructure(client: KubeClient, namespace: string, name: string): Promise<void> {
  await apply(client, StubCluster, { namespace, name }, { spec: {} });
  await apply(
    client,
    StubCluster,
    { namespace, name },
    { status: { initialization: { provisioned: true } } },
    'status',
  );
}

/** What the kinds begin with, as the variable INFRASTRUCTURE of clusterctl's templates. */
export const infrastructurePrefix = 'Stub';

/** Creates what a ClusterClass references under one name: a template of infrastructure, and one of machines. */
export async function createClassInfrastructure(client: KubeClient, namespace: string, name: string): Promise<void> {
  await apply(client, StubClusterTemplate, { namespace, name }, { spec: { template: { spec: {} } } });
  await createMachineTemplate(client, namespace, name);
}

/** Creates a template of machines. */
export async function createMachineTemplate(client: KubeClient, namespace: string, name: string): Promise<void> {
  await apply(client, StubMachineTemplate, { namespace, name }, { spec: { template: { spec: {} } } });
}

/** Reports that a Machine's stub is a real machine now. */
export async function provisionMachine(
  client: KubeClient,
  namespace: string,
  name: string,
  providerID: string,
): Promise<void> {
  await client.mergePatch(StubMachine, { namespace, name }, { spec: { providerID } }, { fieldManager });
  const status = { initialization: { provisioned: true } };
  await client.mergePatch(StubMachine, { namespace, name }, { status }, { fieldManager, subresource: 'status' });
}

/** A new kind is served shortly after it is installed. */
async function apply(
  client: KubeClient,
  resource: Resource,
  metadata: ObjectName,
  content: object,
  subresource?: string,
): Promise<void> {
  const object: KubeObject = { apiVersion: resource.apiVersion, kind: resource.kind, metadata, ...content };
  const options = { fieldManager, force: true, resource, ...(subresource ? { subresource } : {}) };
  await until(`${resource.kind} to be served`, () =>
    client.apply(object, options).catch((error: unknown) => {
      if (isNotFound(error)) return false as const;
      throw error;
    }),
  );
}

function definition({ kind, plural, apiVersion }: Resource): KubeObject {
  const schema = { type: 'object', properties: { spec: anything, status: anything } };
  const version = {
    name: apiVersion.split('/')[1],
    served: true,
    storage: true,
    subresources: { status: {} },
    schema: { openAPIV3Schema: schema },
  };
  const crd = {
    apiVersion: CustomResourceDefinition.apiVersion,
    kind: CustomResourceDefinition.kind,
    metadata: { name: `${plural}.${group}`, labels: { 'cluster.x-k8s.io/v1beta2': 'v1beta1' } },
    spec: {
      group,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      scope: 'Namespaced',
      versions: [version],
    },
  };
  return crd;
}
