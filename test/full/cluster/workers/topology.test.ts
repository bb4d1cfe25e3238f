import { App } from 'cdk8s';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { clusterNameLabel } from '../../../../constructs/api/group.ts';
import { lowersTopologyVersion } from '../../../../constructs/api/kubernetes-version.ts';
import {
  Cluster,
  HostedControlPlane,
  HostedControlPlaneTemplate,
  MachineDeployment,
  type Resource,
} from '../../../../constructs/api/resources.ts';
import type { Condition } from '../../../../constructs/api/status.ts';
import { OpenStackClusterClass } from '../../../../constructs/stacks/openstack/cluster-class.ts';
import { OpenStackVariables } from '../../../../constructs/stacks/openstack/variables.ts';
import type { RenderedObject } from '../../../../constructs/control-plane/chart.ts';
import { ClusterClass } from '../../../../imports/cluster.x-k8s.io.ts';
import { messageOf } from '../../../../reconciler/kube/error-message.ts';
import type { KubeObject } from '../../../../reconciler/kube/object.ts';
import { allTogether, cases } from '../../../constructs/stacks/openstack/variable-cases.ts';
import { patchedTemplate } from '../../../support/stacks/class-engine.ts';
import { until } from '../../../support/until.ts';
import { Workbench } from '../../../support/workbench.ts';
import { installOpenStackKinds } from '../../../system/openstack-kinds.ts';
import { serveControlPlane } from '../../system/served-control-plane.ts';
import { installAddon } from '../../../tools/testbed/addons.ts';
import { applyObjects, resourceFor } from '../../../tools/testbed/apply-objects.ts';
import { instanceFrom } from '../../../tools/testbed/instance.ts';

const namespace = 'topology';
const instance = instanceFrom(process.env, inject('testbed'));
/** Cluster API spaces its reconciles, and shares two cores with everything else. */
const limitMs = 180_000;
/**
 * After failures, such as those of a webhook that did not answer in time, Cluster API pauses before it looks at a Cluster again,
 * for up to a quarter of an hour. A change of the Cluster ends the pause.
 */
const touchAfterMs = 30_000;
const name = 'openstack-hosted-control-plane-1-34-v1';
const merge = { fieldManager: 'test' };
/** As users of the first version of the API write it. */
const v1beta1Cluster = { ...Cluster, apiVersion: 'cluster.x-k8s.io/v1beta1' };
const classObjects = (of: string) =>
  new OpenStackClusterClass(new App(), 'class', { name: of, capo: 'v1beta1' }).toJson() as RenderedObject[];
const objects = classObjects(name);
const version = 'v1.34.10';
let bench: Workbench;

interface Specified extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: { readonly conditions?: readonly Condition[] };
}

beforeAll(async () => {
  await installAddon(instance, 'kubeadm-bootstrap', (line) => console.log(line));
  bench = await Workbench.open(inject('kubeconfig'), namespace);
  await installOpenStackKinds(bench.client, 'v1beta1');
  await applyObjects(bench.client, inTestNamespace(objects));
  await untilReady(name);
});
afterAll(async () => {
  await bench.close();
});

const inTestNamespace = (all: readonly RenderedObject[]) =>
  all.map((object) => ({ ...object, metadata: { ...object.metadata, namespace } }));

const classResource = resourceFor({ ...ClusterClass.GVK, metadata: { name, namespace } });

/** Cluster API has read the variables of a class, and the versions of its references. */
function untilReady(of: string): Promise<boolean> {
  return until(
    `the variables and references of ${of}`,
    async () => {
      const { status } = await read(classResource, of);
      return ['VariablesReady', 'RefVersionsUpToDate'].every((wanted) =>
        status?.conditions?.some((one) => one.type === wanted && one.status === 'True'),
      );
    },
    limitMs,
  );
}

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

/** The specs that Cluster API's own engine gave the objects of a Cluster. Each other one that it plans first is a progress. */
async function plannedFor(cluster: string) {
  let planned = 0;
  let touchedAt = performance.now();
  const lookFor = async () => {
    const found = await plannedSpecs(cluster);
    if (found) return found;
    planned = (await bench.client.list(MachineDeployment, { namespace })).items.length;
    if (performance.now() > touchedAt + touchAfterMs) {
      touchedAt = performance.now();
      const annotations = { 'test/touched': String(touchedAt) };
      await bench.client.mergePatch(Cluster, { namespace, name: cluster }, { metadata: { annotations } }, merge);
    }
    return undefined;
  };
  try {
    return await until(`the objects of Cluster ${cluster}`, lookFor, limitMs, () => planned);
  } catch (error) {
    throw new Error(`${messageOf(error)}; its topology: ${await topologyMessage(cluster)}`, { cause: error });
  }
}

async function plannedSpecs(cluster: string) {
  const { infrastructureRef, controlPlaneRef } = (await read(Cluster, cluster)).spec as Refs;
  const selector = `${clusterNameLabel}=${cluster}`;
  const { items } = await bench.client.list<Specified>(MachineDeployment, { namespace, labelSelector: selector });
  const [workers] = items;
  if (!infrastructureRef || !controlPlaneRef || !workers) return undefined;
  const { spec } = workers.spec['template'] as { spec: { infrastructureRef: { name: string } } };
  const machines = await read(infrastructure('OpenStackMachineTemplate'), spec.infrastructureRef.name);
  return {
    network: (await read(infrastructure('OpenStackCluster'), infrastructureRef.name)).spec,
    machine: (machines.spec['template'] as Specified).spec,
    controlPlane: (await read(HostedControlPlane, controlPlaneRef.name)).spec,
  };
}

/** Why the topology of a Cluster is not reconciled; empty once it is. */
async function topologyMessage(cluster: string): Promise<string> {
  const { metadata, status } = await read(Cluster, cluster);
  const reconciled = status?.conditions?.find(({ type }) => type === 'TopologyReconciled');
  if (!reconciled || reconciled.observedGeneration !== metadata.generation) return 'not observed yet';
  return reconciled.status === 'True' ? '' : (reconciled.message ?? reconciled.status);
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

  it('has read the variables of the class, and finds its references up to date', async () => {
    const { status } = await read(classResource, name);
    expect(status?.conditions).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: 'VariablesReady', status: 'True' }),
        expect.objectContaining({ type: 'RefVersionsUpToDate', status: 'True' }),
      ]),
    );
  });

  it('refuses a value that the schema of a variable refuses', async () => {
    const cluster = clusterOf('refused', { controlPlaneReplicas: 0 });
    await expect(applyObjects(bench.client, [cluster])).rejects.toThrow('controlPlaneReplicas');
  });
});

describe('a Cluster of the class', () => {
  const cluster = 'changed';
  const change = (topology: object) =>
    bench.client.mergePatch(Cluster, { namespace, name: cluster }, { spec: { topology } }, merge);
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

  async function controlPlane(): Promise<Specified> {
    const { controlPlaneRef } = (await read(Cluster, cluster)).spec as Refs;
    return read(HostedControlPlane, controlPlaneRef?.name ?? '');
  }
  const untilSpec = (expected: object) =>
    expect.poll(async () => (await controlPlane()).spec, { timeout: limitMs }).toMatchObject(expected);

  beforeAll(async () => {
    await applyObjects(bench.client, [clusterOf(cluster, {})]);
    await plannedFor(cluster);
  });

  it('scales by its variable, and by the number in its topology, which takes precedence', async () => {
    expect(await untilReplicas(3)).toBe(true);
    await change({ variables: [{ name: 'controlPlaneReplicas', value: 2 }] });
    expect(await untilReplicas(2)).toBe(true);
    await change({ controlPlane: { replicas: 5 } });
    expect(await untilReplicas(5)).toBe(true);
    await change({ variables: [{ name: 'controlPlaneReplicas', value: 4 }], controlPlane: { replicas: 3 } });
    expect(await untilReplicas(3)).toBe(true);
  });

  it('passes on metadata, deletion and rollout of its topology, which the template does not have', async () => {
    const after = '2026-11-20T00:00:00Z';
    const metadata = { labels: { team: 'a' } };
    await change({ controlPlane: { metadata, deletion: { nodeDrainTimeoutSeconds: 30 }, rollout: { after } } });
    await untilSpec({ rollout: { after }, machineTemplate: { spec: { deletion: { nodeDrainTimeoutSeconds: 30 } } } });
    expect((await controlPlane()).metadata.labels).toMatchObject(metadata.labels);
  });

  it('takes another template of its class, and a change of that one, without another control plane', async () => {
    const { uid } = (await controlPlane()).metadata;
    const isTemplate = ({ kind }: KubeObject) => kind === 'HostedControlPlaneTemplate';
    const template = objects.find(isTemplate) as RenderedObject & { spec: { template: { spec: object } } };
    const { spec } = template.spec.template;
    const other = {
      metadata: { name: 'another', namespace },
      spec: { template: { spec: { ...spec, networkPolicy: 'Disabled' } } },
    };
    await applyObjects(bench.client, [{ ...template, ...other }]);
    const templateRef = { name: other.metadata.name };
    const inClass = { namespace, name };
    await bench.client.mergePatch(classResource, inClass, { spec: { controlPlane: { templateRef } } }, merge);
    await untilSpec({ networkPolicy: 'Disabled' });

    const inPlace = { spec: { template: { spec: { coredns: { replicas: 3 } } } } };
    await bench.client.mergePatch(HostedControlPlaneTemplate, other.metadata, inPlace, merge);
    // Cluster API does not watch templates: a change of the Cluster lets it read them.
    await change({ controlPlane: { metadata: { labels: { team: 'b' } } } });
    await untilSpec({ coredns: { replicas: 3 } });
    expect((await controlPlane()).metadata.uid).toBe(uid);
  });

  it('cannot go back to an earlier minor', async () => {
    await expect(change({ version: 'v1.33.6' })).rejects.toThrow(/spec\.topology\.version.*v1\.33\.6/s);
  });

  it('follows a patch release, and the next minor with the class of that minor, control plane first', async () => {
    const next = 'openstack-hosted-control-plane-1-35-v1';
    await applyObjects(bench.client, inTestNamespace(classObjects(next)));
    await untilReady(next);
    for (const topology of [{ version: 'v1.34.11' }, { class: next, version: 'v1.35.8' }]) {
      await serve();
      await bench.client.mergePatch(v1beta1Cluster, { namespace, name: cluster }, { spec: { topology } }, merge);
      await until(
        `a control plane of ${topology.version}`,
        () => hasVersion('controlPlane', topology.version),
        limitMs,
      );
      expect(await hasVersion('machine', topology.version)).toBe(false);
      await serve();
      await until(`workers of ${topology.version}`, () => hasVersion('machine', topology.version), limitMs);
    }
    expect((await read(Cluster, cluster)).spec).toMatchObject({ topology: { classRef: { name: next } } });
  });

  it('takes no further minor while its control plane has not got this one, and goes back from it, in the Cluster first', async () => {
    const next = { class: 'openstack-hosted-control-plane-1-36-v1', version: 'v1.36.4' };
    await applyObjects(bench.client, inTestNamespace(classObjects(next.class)));
    await untilReady(next.class);
    const topology = (wanted: typeof next) =>
      bench.client.mergePatch(v1beta1Cluster, { namespace, name: cluster }, { spec: { topology: wanted } }, merge);
    await serve();
    await topology(next);
    await until('an upgrade', () => hasVersion('controlPlane', next.version), limitMs);

    const further = { class: next.class, version: 'v1.37.1' };
    await expect(topology(further)).rejects.toThrow(/spec\.topology\.version.*v1\.37\.1/s);
    const before = { class: 'openstack-hosted-control-plane-1-35-v1', version: 'v1.35.8' };
    await expect(topology(before)).rejects.toThrow('version cannot be decreased');
    const annotations = { [lowersTopologyVersion]: '' };
    await bench.client.mergePatch(Cluster, { namespace, name: cluster }, { metadata: { annotations } }, merge);
    await topology(before);
    await until(
      'a Cluster that waits for its control plane',
      async () => /v1\.36\.4/.test(await topologyMessage(cluster)),
      limitMs,
    );
    expect(await hasVersion('controlPlane', next.version)).toBe(true);
    const { controlPlaneRef } = (await read(Cluster, cluster)).spec as Refs;
    const controlPlane = { namespace, name: controlPlaneRef?.name ?? '' };
    await bench.client.mergePatch(HostedControlPlane, controlPlane, { spec: { version: before.version } }, merge);
    await serve();
    await until('a topology that is reconciled', async () => (await topologyMessage(cluster)) === '', limitMs);
    expect(await hasVersion('controlPlane', before.version)).toBe(true);
    expect(await hasVersion('machine', before.version)).toBe(true);
  });

  async function serve(): Promise<void> {
    const { controlPlaneRef } = (await read(Cluster, cluster)).spec as Refs;
    await serveControlPlane(bench.client, { namespace, name: controlPlaneRef?.name ?? '' });
  }

  /** Of the control plane, or in the name of the image of the workers. */
  async function hasVersion(part: 'controlPlane' | 'machine', wanted: string): Promise<boolean> {
    const { controlPlane, machine } = await plannedFor(cluster);
    if (part === 'controlPlane') return controlPlane['version'] === wanted;
    return JSON.stringify(machine).includes(`ubuntu-capi-image-${wanted}`);
  }

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
