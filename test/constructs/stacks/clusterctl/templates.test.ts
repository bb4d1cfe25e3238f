import { parseAllDocuments } from 'yaml';
import { describe, expect, it } from 'vitest';
import { HostedControlPlaneSpec } from '../../../../constructs/api/hosted-control-plane.ts';
import { clusterctlTemplates } from '../../../../constructs/stacks/clusterctl/files.ts';
import { templateVariables } from '../../../../constructs/stacks/clusterctl/variables.ts';
import type { RenderedObject } from '../../../../constructs/control-plane/chart.ts';
import { enabledPatches, patchedTemplate } from '../../../support/stacks/class-engine.ts';

const files = clusterctlTemplates();
const values: Readonly<Record<string, string>> = {
  CLUSTER_NAME: 'c1',
  NAMESPACE: 'team',
  KUBERNETES_VERSION: 'v1.37.1',
  CONTROL_PLANE_MACHINE_COUNT: '3',
  WORKER_MACHINE_COUNT: '2',
  INFRASTRUCTURE: 'OpenStack',
  GATEWAY_NAME: 'shared',
};

/** The objects of a template, as clusterctl fills it in. */
function filled(path: string): RenderedObject[] {
  const text = files.find((file) => file.path === path)?.content ?? '';
  const substituted = text.replaceAll(
    /\$\{(\w+)(?::=([^}]*))?\}/g,
    (_, name: string, byDefault: string | undefined) => values[name] ?? byDefault ?? `no value of ${name}`,
  );
  return parseAllDocuments(substituted).map((document) => document.toJS() as RenderedObject);
}

const ofKind = (objects: readonly RenderedObject[], kind: string) => objects.find((object) => object.kind === kind);

it('templates have names that clusterctl looks for', () => {
  expect(files.map(({ path }) => path)).toEqual([
    'cluster-template.yaml',
    'cluster-template-gateway.yaml',
    'cluster-template-class.yaml',
    'clusterclass-hosted-control-plane.yaml',
  ]);
});

it('templates contain only documented variables, and together all of them', () => {
  const used = files.flatMap(({ content }) => [...content.matchAll(/\$\{(\w+)/g)].map(([, name]) => name));
  expect(new Set(used)).toEqual(new Set(Object.keys(templateVariables)));
});

describe.each([
  ['cluster-template.yaml', { exposure: { loadBalancer: {} } }],
  ['cluster-template-gateway.yaml', { gateway: { name: 'shared', namespace: 'default' } }],
])('%s', (path, access) => {
  const objects = filled(path);

  it('is a control plane that this provider accepts, with numbers as numbers', () => {
    const spec = HostedControlPlaneSpec.parse(ofKind(objects, 'HostedControlPlane')?.['spec']);
    expect(spec).toMatchObject({ version: 'v1.37.1', replicas: 3, ...access });
    expect(ofKind(objects, 'MachineDeployment')).toMatchObject({ spec: { replicas: 2 } });
  });

  it('refers to objects that it contains, and to those of the infrastructure provider by the name of the cluster', () => {
    const group = 'infrastructure.cluster.x-k8s.io';
    expect(ofKind(objects, 'Cluster')).toMatchObject({
      metadata: { name: 'c1', namespace: 'team' },
      spec: {
        controlPlaneRef: { kind: 'HostedControlPlane', name: ofKind(objects, 'HostedControlPlane')?.metadata.name },
        infrastructureRef: { apiGroup: group, kind: 'OpenStackCluster', name: 'c1' },
      },
    });
    expect(ofKind(objects, 'MachineDeployment')).toMatchObject({
      spec: {
        template: {
          spec: {
            bootstrap: { configRef: { name: ofKind(objects, 'KubeadmConfigTemplate')?.metadata.name } },
            infrastructureRef: { apiGroup: group, kind: 'OpenStackMachineTemplate', name: 'c1' },
          },
        },
      },
    });
  });
});

describe('the ClusterClass', () => {
  const objects = filled('clusterclass-hosted-control-plane.yaml');
  const [topology] = filled('cluster-template-class.yaml');

  it('is that of the Cluster of cluster-template-class.yaml', () => {
    expect(topology).toMatchObject({
      spec: {
        topology: {
          classRef: { name: ofKind(objects, 'ClusterClass')?.metadata.name },
          workers: { machineDeployments: [{ class: 'default-worker', replicas: 2 }] },
        },
      },
    });
  });

  it.each([
    ['a load balancer without a Gateway', '', { exposure: { loadBalancer: {} } }],
    ['the Gateway of the variable', 'shared', { gateway: { name: 'shared', namespace: 'default' } }],
  ])('gives the control plane exactly one way in: %s', (_, name, spec) => {
    const variables = { gateway: { name, namespace: 'default' } };
    expect(enabledPatches(ofKind(objects, 'ClusterClass')!, variables)).toHaveLength(1);
    expect(patchedTemplate(objects, 'HostedControlPlaneTemplate', variables)).toMatchObject({
      spec: { template: { spec } },
    });
  });
});
