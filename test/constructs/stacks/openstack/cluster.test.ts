import { App } from 'cdk8s';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import type { RenderedObject } from '../../../../constructs/control-plane/chart.ts';
import { planCertificates } from '../../../../constructs/control-plane/certificates/certificate-plans.ts';
import {
  OpenStackHostedCluster,
  type OpenStackHostedClusterProps,
} from '../../../../constructs/stacks/openstack/cluster.ts';
import { clusterOf, knownFacts } from '../../../support/rendered-cluster.ts';
import { patchedTemplate } from '../../../support/stacks/class-engine.ts';
import { problemsOf } from '../../../support/stacks/foreign-schema.ts';
import { classes } from './variable-cases.ts';
import { OpenStackVariables } from '../../../../constructs/stacks/openstack/variables.ts';

const seed: OpenStackHostedClusterProps = {
  name: 'my-hosted-cluster',
  namespace: 'cluster',
  version: 'v1.33.6',
  stack: { version: 'v1', namespace: 'stacks', capo: 'v1beta1' },
  controlPlaneReplicas: 3,
  workers: { 'md-0': 2 },
  variables: { workerFlavor: 'SCS-2V-4', identityRef: { name: 'openstack', cloudName: 'openstack' } },
  clouds: 'clouds:\n  openstack: {}\n',
};

function render(changes: Partial<OpenStackHostedClusterProps> = {}): RenderedObject[] {
  return new OpenStackHostedCluster(new App(), 'cluster', { ...seed, ...changes }).toJson() as RenderedObject[];
}

function find(objects: readonly RenderedObject[], kind: string, name?: string): RenderedObject {
  const found = objects.find((object) => object.kind === kind && (name === undefined || object.metadata.name === name));
  if (!found) throw new Error(`no ${kind} ${name ?? ''}`);
  return found;
}

const decoded = (data: unknown, key: string) =>
  Buffer.from((data as Readonly<Record<string, string>>)[key] ?? '', 'base64').toString();

describe('a cluster in OpenStack', () => {
  const objects = render();

  it('has the topology that the user describes', () => {
    expect(find(objects, 'Cluster')).toEqual({
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: { name: 'my-hosted-cluster', namespace: 'cluster', labels: { 'managed-secret': 'clouds-yaml' } },
      spec: {
        clusterNetwork: {
          pods: { cidrBlocks: ['172.16.0.0/16'] },
          services: { cidrBlocks: ['10.96.0.0/12'] },
          serviceDomain: 'cluster.local',
        },
        topology: {
          classRef: { name: 'openstack-hosted-control-plane-1-33-v1', namespace: 'stacks' },
          version: 'v1.33.6',
          controlPlane: { replicas: 3 },
          workers: { machineDeployments: [{ class: 'default-worker', name: 'md-0', replicas: 2 }] },
          variables: [
            { name: 'workerFlavor', value: 'SCS-2V-4' },
            { name: 'identityRef', value: { name: 'openstack', cloudName: 'openstack' } },
          ],
        },
      },
    });
  });

  it('leaves the number of API servers to the variable if no number is given', () => {
    const { controlPlaneReplicas: _, ...without } = seed;
    const chart = new OpenStackHostedCluster(new App(), 'cluster', without).toJson() as RenderedObject[];
    expect(find(chart, 'Cluster')['spec']).not.toHaveProperty('topology.controlPlane');
  });

  it('subscribes to the stack of its minor, by an object that the schema accepts', () => {
    const stack = find(objects, 'ClusterStack');
    expect(stack.metadata).toEqual({ name: 'openstack-hosted-control-plane-1-33', namespace: 'stacks' });
    expect(stack['spec']).toMatchObject({
      provider: 'openstack',
      name: 'hosted-control-plane',
      kubernetesVersion: '1.33',
      versions: ['v1'],
      autoSubscribe: false,
      noProvider: true,
    });
    expect(problemsOf(stack)).toEqual([]);
  });

  it('delivers the credentials: the wrapped Secret decodes to the same file, and the labels match', () => {
    expect(decoded(find(objects, 'Secret', 'openstack')['data'], 'clouds.yaml')).toBe(seed.clouds);
    const wrapped = find(objects, 'Secret', 'clouds-yaml');
    expect(wrapped['type']).toBe('addons.cluster.x-k8s.io/resource-set');
    const inner = parse(decoded(wrapped['data'], 'clouds-yaml')) as RenderedObject;
    expect(inner).toMatchObject({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'clouds-yaml', namespace: 'kube-system' },
    });
    expect(decoded(inner['data'], 'clouds.yaml')).toBe(seed.clouds);
    expect(find(objects, 'ClusterResourceSet')['spec']).toEqual({
      strategy: 'Reconcile',
      clusterSelector: { matchLabels: find(objects, 'Cluster').metadata.labels },
      resources: [{ kind: 'Secret', name: 'clouds-yaml' }],
    });
  });

  it('stores the credentials under the name that CAPO looks up', () => {
    const other = render({ variables: { identityRef: { name: 'team-a' } } });
    expect(find(other, 'Secret', 'team-a').kind).toBe('Secret');
  });

  it('has no Secret without credentials', () => {
    const { clouds: _, ...without } = seed;
    const chart = new OpenStackHostedCluster(new App(), 'cluster', without).toJson() as RenderedObject[];
    expect(chart.map(({ kind }) => kind)).not.toContain('Secret');
  });

  it.each([
    ['a load balancer that CAPO would create', { apiServerLoadBalancer: 'octavia-ovn' }, /remove the variable/],
    ['an unknown variable', { workerFlavour: 'SCS-2V-4' }, /workerFlavour/],
    ['a value of the wrong type', { workerRootDisk: '25' }, /workerRootDisk/],
  ])('refuses %s', (_, variables, message) => {
    expect(() => render({ variables: variables as OpenStackVariables })).toThrow(message);
  });

  it('has the names of certSANs in the certificate of the API server', () => {
    const values = OpenStackVariables.parse({ certSANs: ['api.example.org'] });
    const { spec } = patchedTemplate(classes.v1beta1, 'HostedControlPlaneTemplate', values);
    const cluster = clusterOf({ spec: (spec as { template: { spec: object } }).template.spec });
    const [apiServer] = planCertificates(cluster, knownFacts.endpoint, knownFacts.konnectivityEndpoint);
    expect(apiServer?.hosts).toContain('api.example.org');
  });
});
