import { CustomResourceDefinition, type Resource } from '../../constructs/api/resources.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { until } from '../support/until.ts';

/** The smallest thing that Cluster API takes for infrastructure: an object that says that it is provisioned. */
const StubCluster: Resource = {
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
  kind: 'StubCluster',
  plural: 'stubclusters',
  namespaced: true,
};

const fieldManager = 'test';
const group = 'infrastructure.cluster.x-k8s.io';
const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** What a Cluster refers to. */
export const infrastructureRef = (name: string) => ({ apiGroup: group, kind: StubCluster.kind, name });

/** Installs the kind, and lets Cluster API read and write it. */
export async function installInfrastructure(client: KubeClient): Promise<void> {
  const crd = {
    apiVersion: CustomResourceDefinition.apiVersion,
    kind: CustomResourceDefinition.kind,
    metadata: { name: `stubclusters.${group}`, labels: { 'cluster.x-k8s.io/v1beta2': 'v1beta1' } },
    spec: {
      group,
      names: {
        kind: StubCluster.kind,
        plural: StubCluster.plural,
        singular: 'stubcluster',
        listKind: 'StubClusterList',
      },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1beta1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: anything, status: anything } } },
        },
      ],
    },
  };
  await client.apply(crd, { fieldManager, force: true });
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'stub-infrastructure', labels: { 'cluster.x-k8s.io/aggregate-to-manager': 'true' } },
    rules: [{ apiGroups: [group], resources: ['*'], verbs: ['*'] }],
  };
  await client.apply(role, { fieldManager, force: true });
}

/** Makes infrastructure that is provisioned from the start. */
export async function createInfrastructure(client: KubeClient, namespace: string, name: string): Promise<void> {
  const { apiVersion, kind } = StubCluster;
  const object: KubeObject = { apiVersion, kind, metadata: { namespace, name } };
  const apply = (extra: object, subresource?: string) =>
    client.apply(
      { ...object, ...extra },
      { fieldManager, force: true, resource: StubCluster, ...(subresource ? { subresource } : {}) },
    );
  await until('the stub infrastructure to be served', () => apply({ spec: {} }).catch(() => false as const));
  await apply({ status: { initialization: { provisioned: true } } }, 'status');
}
