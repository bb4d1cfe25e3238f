import { App } from 'cdk8s';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import { Cluster, HostedControlPlane } from '../../../constructs/api/resources.ts';
import { OpenStackClusterClass } from '../../../constructs/stacks/openstack/cluster-class.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { until } from '../../support/until.ts';
import { Workbench } from '../../support/workbench.ts';
import { installOpenStackKinds } from '../../system/openstack-kinds.ts';
import { applyObjects } from '../../tools/testbed/apply-objects.ts';

const namespace = 'v1beta1-class';
/** Cluster API spaces its reconciles, and shares two cores with everything else. */
const limitMs = 180_000;
const version = 'v1.34.10';
let bench: Workbench;

interface Specified extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>>;
}

/** Templates of another class, which this one uses too. */
const templates = (
  new OpenStackClusterClass(new App(), 'class', { name: 'other', capo: 'v1beta1' }).toJson() as RenderedObject[]
)
  .filter(({ kind }) => ['HostedControlPlaneTemplate', 'OpenStackClusterTemplate'].includes(kind))
  .map((object) => ({ ...object, metadata: { ...object.metadata, namespace } }));

const refOf = (kind: string) => {
  const template = templates.find((object) => object.kind === kind);
  return { ref: { apiVersion: template?.apiVersion, kind, name: template?.metadata.name } };
};

/** A class as users of the first version of the API write it, with everything that it knows of a control plane. */
function builtinClass(): RenderedObject {
  const controlPlane = refOf('HostedControlPlaneTemplate');
  const { apiVersion, kind } = controlPlane.ref;
  const hosts = ['name', 'version', 'replicas', 'metadata.labels.tier'].map(
    (path) => `"{{ .builtin.controlPlane.${path} }}.example.com"`,
  );
  const jsonPatches = [
    { op: 'add', path: '/spec/template/spec/exposure', value: { loadBalancer: {} } },
    { op: 'add', path: '/spec/template/spec/apiServer/certSANs', valueFrom: { template: `[${hosts.join(', ')}]` } },
  ];
  const selector = { apiVersion, kind, matchResources: { controlPlane: true } };
  return {
    apiVersion: 'cluster.x-k8s.io/v1beta1',
    kind: 'ClusterClass',
    metadata: { name: 'builtin', namespace },
    spec: {
      controlPlane,
      infrastructure: refOf('OpenStackClusterTemplate'),
      patches: [{ name: 'hosts', definitions: [{ selector, jsonPatches }] }],
    },
  };
}

beforeAll(async () => {
  bench = await Workbench.open(inject('kubeconfig'), namespace);
  await installOpenStackKinds(bench.client, 'v1beta1');
  await applyObjects(bench.client, [...templates, builtinClass()]);
});
afterAll(() => bench.close());

test('a class of v1beta1 gives a control plane what its builtin variables say of it', async () => {
  const topology = {
    class: 'builtin',
    version,
    controlPlane: { replicas: 3, metadata: { labels: { tier: 'gold' } } },
  };
  const cluster: Specified = {
    apiVersion: 'cluster.x-k8s.io/v1beta1',
    kind: Cluster.kind,
    metadata: { name: 'c1', namespace },
    spec: { topology },
  };
  await applyObjects(bench.client, [cluster]);
  const { metadata, spec } = await until(
    'a control plane of the class',
    async () => {
      const { items } = await bench.client.list<Specified>(HostedControlPlane, { namespace });
      return items[0];
    },
    limitMs,
  );
  expect(spec).toMatchObject({
    version,
    replicas: 3,
    exposure: { loadBalancer: {} },
    apiServer: { certSANs: [metadata.name, version, '3', 'gold'].map((part) => `${part}.example.com`) },
  });
});
