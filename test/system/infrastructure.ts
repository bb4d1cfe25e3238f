import type { Resource } from '../../constructs/api/resources.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import { isNotFound } from '../../reconciler/kube/errors.ts';
import type { KubeObject, ObjectName } from '../../reconciler/kube/object.ts';
import {
  anything,
  infrastructureDefinition,
  infrastructureGroup as group,
  infrastructureKind,
  letClusterApiUse,
} from '../infrastructure-provider/kinds.ts';
import { until } from '../support/until.ts';

/** The smallest object that Cluster API accepts as infrastructure: it reports that it is provisioned. */
const StubCluster = infrastructureKind('StubCluster');
const StubClusterTemplate = infrastructureKind('StubClusterTemplate');
/** A machine that is not provisioned until a test provisions it. */
const StubMachine = infrastructureKind('StubMachine');
const StubMachineTemplate = infrastructureKind('StubMachineTemplate');

const fieldManager = 'test';
const properties = { spec: anything(), status: anything() };

/** The infrastructure that a Cluster references. */
export const infrastructureRef = (name: string) => ({ apiGroup: group, kind: StubCluster.kind, name });

/** The infrastructure that a MachineDeployment references. */
export const machineTemplateRef = (name: string) => ({ apiGroup: group, kind: StubMachineTemplate.kind, name });

/** Installs the kinds, and lets Cluster API read and write them. */
export async function installInfrastructure(client: KubeClient): Promise<void> {
  for (const resource of [StubCluster, StubClusterTemplate, StubMachine, StubMachineTemplate]) {
    await client.apply(infrastructureDefinition(resource, properties), { fieldManager, force: true });
  }
  await letClusterApiUse(client, 'stub-infrastructure');
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
