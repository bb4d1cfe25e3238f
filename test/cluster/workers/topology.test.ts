import { App } from 'cdk8s';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { clusterNameLabel } from '../../../constructs/api/group.ts';
import { Cluster, HostedControlPlane, MachineDeployment, type Resource } from '../../../constructs/api/resources.ts';
import { OpenStackClusterClass } from '../../../constructs/stacks/openstack/cluster-class.ts';
import { OpenStackVariables } from '../../../constructs/stacks/openstack/variables.ts';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { allTogether, cases } from '../../constructs/stacks/openstack/variable-cases.ts';
import { patchedTemplate } from '../../support/stacks/class-engine.ts';
import { until } from '../../support/until.ts';
import { Workbench } from '../../support/workbench.ts';
import { installOpenStackKinds } from '../../system/openstack-kinds.ts';
import { installAddon } from '../../testbed/addons.ts';
import { applyObjects, resourceFor } from '../../testbed/apply-objects.ts';
import { instanceFrom } from '../../testbed/instance.ts';

const namespace = 'topology';
const instance = instanceFrom(process.env, inject('testbed'));
/** Cluster API spaces its reconciles, and shares two cores with everything else. */
const limitMs = 180_000;
const name = 'openstack-hosted-control-plane-1-34-v1';
const objects = new OpenStackClusterClass(new App(), 'class', { name, capo: 'v1beta1' }).toJson() as RenderedObject[];
const version = 'v1.34.10';
let bench: Workbench;

interface Specified extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

beforeAll(async () => {
  await installAddon(instance, 'kubeadm-bootstrap', (line) => console.log(line));
  bench = await Workbench.open(inject('kubeconfig'), namespace);
  await installOpenStackKinds(bench.client, 'v1beta1');
  await applyObjects(
    bench.client,
    objects.map((object) => ({ ...object, metadata: { ...object.metadata, namespace } })),
  );
  const [cluster] = objects;
  if (!cluster) throw new Error('no class');
  await until(
    'the variables of the ClusterClass',
    async () => {
      const { status } = await read(resourceFor({ ...cluster, metadata: { name, namespace } }), name);
      return status?.conditions?.some((one) => one.type === 'VariablesReady' && one.status === 'True');
    },
    limitMs,
  );
});
afterAll(async () => {
  await bench.close();
});

const read = (resource: Resource, object: string) => bench.client.get<Specified>(resource, { namespace, name: object });

/** A Cluster as a user of the first version of the API writes it. */
const clusterOf = (cluster: string, variables: OpenStackVariables) => ({
  apiVersion: 'cluster.x-k8s.io/v1beta1',
  kind: Cluster.kind,
  metadata: { name: cluster, namespace, labels: { 'managed-secret': 'clouds-yaml' } },
  spec: {
    clusterNetwork: {
      pods: { cidrBlocks: ['172.16.0.0/16'] },
      serviceDomain: 'cluster.local',
      services: { cidrBlocks: ['10.96.0.0/12'] },
    },
    topology: {
      class: name,
      classNamespace: namespace,
      version,
      variables: Object.entries(variables).map(([variable, value]) => ({ name: variable, value })),
      workers: { machineDeployments: [{ class: 'default-worker', name: 'md-0', replicas: 0 }] },
    },
  },
});

interface Refs {
  readonly infrastructureRef?: { readonly name: string };
  readonly controlPlaneRef?: { readonly name: string };
}

const infrastructure = (kind: string): Resource => ({
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: true,
});

/** The specs that Cluster API's own engine gave the objects of a Cluster. */
async function plannedFor(cluster: string) {
  return until(
    `the objects of Cluster ${cluster}`,
    async () => {
      const { infrastructureRef, controlPlaneRef } = (await read(Cluster, cluster)).spec as Refs;
      const selector = `${clusterNameLabel}=${cluster}`;
      const [workers] = (await bench.client.list<Specified>(MachineDeployment, { namespace, labelSelector: selector }))
        .items;
      if (!infrastructureRef || !controlPlaneRef || !workers) return undefined;
      const { spec } = workers.spec['template'] as { spec: { infrastructureRef: { name: string } } };
      const machines = await read(infrastructure('OpenStackMachineTemplate'), spec.infrastructureRef.name);
      return {
        network: (await read(infrastructure('OpenStackCluster'), infrastructureRef.name)).spec,
        machine: (machines.spec['template'] as Specified).spec,
        controlPlane: (await read(HostedControlPlane, controlPlaneRef.name)).spec,
      };
    },
    limitMs,
  );
}

describe('the topology engine of Cluster API', () => {
  const inputs: [string, OpenStackVariables][] = [
    ...Object.entries(cases).map(([variable, { given }]): [string, OpenStackVariables] => [variable, given]),
    ['defaults', {}],
    ['all', allTogether],
  ];
  const nameOf = (input: string) => `v-${input.toLowerCase()}`.slice(0, 40);

  beforeAll(() =>
    applyObjects(
      bench.client,
      inputs.map(([input, given]) => clusterOf(nameOf(input), given)),
    ),
  );

  it.each(inputs)('plans what the class says with %s', async (input, given) => {
    const planned = await plannedFor(nameOf(input));
    const builtin = { machineDeployment: { version, class: 'default-worker' } };
    const expected = (kind: string) => {
      const { spec } = patchedTemplate(objects, kind, { ...OpenStackVariables.parse(given), builtin });
      return (spec as { template: { spec: object } }).template.spec;
    };
    expect(planned.network).toMatchObject(expected('OpenStackClusterTemplate'));
    expect(planned.machine).toMatchObject(expected('OpenStackMachineTemplate'));
    expect(planned.controlPlane).toMatchObject({ ...expected('HostedControlPlaneTemplate'), version });
  });

  it('refuses a value that the schema of a variable refuses', async () => {
    const cluster = clusterOf('refused', { controlPlaneReplicas: 0 });
    await expect(applyObjects(bench.client, [cluster])).rejects.toThrow('controlPlaneReplicas');
  });
});

describe('a Cluster of the class', () => {
  const cluster = 'changed';
  const change = (topology: object) =>
    bench.client.mergePatch(Cluster, { namespace, name: cluster }, { spec: { topology } }, { fieldManager: 'test' });
  const untilReplicas = (replicas: number) =>
    until(
      `${replicas} API servers`,
      async () => {
        const { controlPlaneRef } = (await read(Cluster, cluster)).spec as Refs;
        const { spec } = await read(HostedControlPlane, controlPlaneRef?.name ?? '');
        return spec['replicas'] === replicas;
      },
      limitMs,
    );

  beforeAll(async () => {
    await applyObjects(bench.client, [clusterOf(cluster, {})]);
    await plannedFor(cluster);
  });

  it('scales by its variable, and by the number in its topology, which takes precedence', async () => {
    await untilReplicas(3);
    await change({ variables: [{ name: 'controlPlaneReplicas', value: 2 }] });
    await untilReplicas(2);
    await change({ controlPlane: { replicas: 5 } });
    await untilReplicas(5);
    await change({ variables: [{ name: 'controlPlaneReplicas', value: 4 }], controlPlane: { replicas: 3 } });
    await untilReplicas(3);
  });

  it('cannot go back to an earlier minor', async () => {
    await expect(change({ version: 'v1.33.6' })).rejects.toThrow(/spec\.topology\.version.*v1\.33\.6/s);
  });

  it('is deleted with everything that Cluster API made for it', async () => {
    await bench.client.delete(Cluster, { namespace, name: cluster });
    await until(
      'the Cluster to be gone',
      async () => (await bench.client.find(Cluster, { namespace, name: cluster })) === undefined,
      limitMs,
    );
    const kinds = ['OpenStackCluster', 'OpenStackMachineTemplate'].map(infrastructure);
    for (const resource of [HostedControlPlane, MachineDeployment, ...kinds]) {
      const { items } = await bench.client.list(resource, {
        namespace,
        labelSelector: `${clusterNameLabel}=${cluster}`,
      });
      expect(items).toEqual([]);
    }
  });
});
