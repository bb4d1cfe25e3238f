import type { PodObject, SecretObject } from '../../imports/kubernetes.ts';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { App } from 'cdk8s';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { usuallyFalse } from '../../constructs/api/conditions.ts';
import { certificateKinds, type CertificateStatus } from '../../constructs/api/certificate-status.ts';
import { Cluster, Gateway, HostedControlPlane, Namespace, Node, Pod, Secret } from '../../constructs/api/resources.ts';
import type { Condition } from '../../constructs/api/status.ts';
import { metricsPort } from '../../constructs/cluster/provider-names.ts';
import { newestRevision } from '../../constructs/cluster/release-revisions.ts';
import type { RenderedObject } from '../../constructs/control-plane/chart.ts';
import { OpenStackHostedCluster } from '../../constructs/stacks/openstack/cluster.ts';
import { ClusterResourceSet } from '../../imports/addons.cluster.x-k8s.io.ts';
import { forwardPort } from '../../reconciler/cli/port-forward.ts';
import { KubeClient } from '../../reconciler/kube/client.ts';
import { connect, loadKubeConfig } from '../../reconciler/kube/config.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { isReady } from '../../reconciler/kube/readiness.ts';
import { valueOf } from '../../reconciler/pki/secret.ts';
import { whoAmI } from '../cluster/exposure/who-am-i.ts';
import { demoCluster } from '../tools/demo/provision.ts';
import { joinConfigurationIn } from '../infrastructure-provider/host-machines.ts';
import { HcpUser } from '../support/hcp.ts';
import { endMetricsReader, metricsReader, scrape } from '../support/metrics-reader.ts';
import { runScript } from '../support/npm-run.ts';
import { ownTestbed } from '../support/own-testbed.ts';
import { crashesIn, type PodInState } from '../support/pod-states.ts';
import { privateKeyIn } from '../support/private-keys.ts';
import { providerNamespace } from '../support/provider.ts';
import { until } from '../support/until.ts';
import { type HostedControlPlaneObject, kubernetesVersion, Workbench } from '../support/workbench.ts';
import { gatewayAddress } from '../tools/testbed/gateway-address.ts';
import { checkHealth } from '../tools/testbed/health.ts';
import { kubeconfigPath } from '../tools/testbed/instance.ts';
import { kubectl } from '../tools/testbed/kubectl.ts';
import { removeMachine } from '../tools/testbed/node-machines.ts';
import { repository } from '../tools/testbed/operator-bundle.ts';
import { withHostedApi } from '../tools/testbed/workers.ts';
import { bootstrapData, joinMachineOf } from './joined-machine.ts';
import { createMachineDeployment } from './machine-deployment.ts';
import { machineNames, newestMachine, prepareForMachines } from './machines.ts';
import { writtenObjects } from './written-objects.ts';

// One control plane, from the first command of the README to its last: what is installed is what is shipped, and the tests follow
// each other on it.
const instance = ownTestbed('demo');
const env = { HCP_TESTBED: instance.name };
const kubeconfig = kubeconfigPath(instance);
const { namespace, name } = demoCluster;
const inNamespace = (...args: string[]): Promise<string> => kubectl(instance, ['--namespace', namespace, ...args]);
let bench: Workbench;

test('the demo ends with a worker whose pods answer', async () => {
  const printed = await runScript('demo', [], env);
  expect(printed).toContain('demo-worker-1 was Ready');
  expect(printed).toContain('until both had answered');
  expect(printed).toMatch(/^\$ hcp list -A\n.*\n.*demo.* Ready /m);
  expect(printed).toMatch(/^\$ hcp status demo -n demo\n(?:.*\n)*Ready/m);
  expect(printed).toContain('constructs/provider/TUTORIAL.md#first-cluster');
});

describe('the control plane of the demo', () => {
  let before: readonly string[];
  beforeAll(async () => {
    bench = new Workbench(namespace, new KubeClient(await connect(loadKubeConfig(kubeconfig))));
  });
  afterAll(() => bench.client.connection.close());

  test("the reference provider's HostedControlPlane becomes a control plane behind its Gateway", async () => {
    const sample = await readFile(join(repository, 'test/clusters/gateway.yaml'), 'utf8');
    const documents = parseAllDocuments(sample).map((document) => document.toJS() as HostedControlPlaneObject);
    const given = (kind: string) => documents.find((document) => document.kind === kind)!.spec;
    const gateway = await bench.client.get<HostedControlPlaneObject>(Gateway, {
      namespace: 'capi-system',
      name: 'capi',
    });
    expect(gateway.spec['listeners']).toEqual(given(Gateway.kind)['listeners']);
    const { spec } = await bench.client.get<HostedControlPlaneObject>(HostedControlPlane, demoCluster);
    // the testbed has no Kubernetes 1.33
    expect(spec).toMatchObject({ ...given(HostedControlPlane.kind), version: kubernetesVersion });
    expect(spec.controlPlaneEndpoint).toEqual({ host: 'demo.demo.clusters.example.com', port: 443 });
    const user = await whoAmI({ instance, bench, address: gatewayAddress(instance) }, name);
    expect(user).toMatchObject({ username: 'kubernetes-admin' });
  });

  test('has every condition in its expected state', async () => {
    const wrong = async () =>
      (await controlPlane()).status?.conditions?.filter(
        ({ type, status: value }) => value !== (usuallyFalse.some((one) => one === type) ? 'False' : 'True'),
      );
    // Phases that Ready does not wait for may be later.
    let seen: Awaited<ReturnType<typeof wrong>>;
    await until(
      'every condition',
      async () => (seen = await wrong())?.length === 0,
      60_000,
      () => seen,
    );
    const { status } = await controlPlane();
    const versions = [{ version: kubernetesVersion, replicas: 3 }];
    expect(status).toMatchObject({ replicas: 3, readyReplicas: 3, versions });
    before = await writtenObjects(bench);
  });

  test('runs its pods under the strictest pod security, and none has crashed', async () => {
    const { metadata } = await bench.client.get(Namespace, { name: namespace });
    expect(metadata.labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'restricted' });
    const components = ['api-server', 'etcd', 'controller-manager', 'scheduler'] as const;
    const pods = await Promise.all(components.map((component) => bench.pods(name, component)));
    expect(pods.map(({ length }) => length)).toEqual([3, 3, 1, 1]);
    for (const each of [namespace, providerNamespace]) {
      expect(crashesIn((await bench.client.list<PodInState>(Pod, { namespace: each })).items)).toEqual([]);
    }
  });

  test('is in the metrics of its operator, for those who may read them', async () => {
    const scraper = { namespace, name: 'prometheus' };
    const token = await metricsReader(bench.client, scraper);
    const { items } = await bench.client.list<PodObject>(Pod, { namespace: providerNamespace });
    const scrapes = items.filter(isReady).map(async ({ metadata }) => {
      const pod = { namespace: providerNamespace, pod: metadata.name, port: metricsPort };
      const forwarded = await forwardPort(loadKubeConfig(kubeconfig), pod);
      const [withToken, without] = [await scrape(forwarded.port, token), await scrape(forwarded.port)];
      forwarded.close();
      expect([withToken.status, without.status]).toEqual([200, 401]);
      return withToken.text;
    });
    const texts = await Promise.all(scrapes);
    expect(texts.join('\n')).toMatch(/^hosted_control_plane_condition\{[^}]*name="demo"/m);
    await endMetricsReader(bench.client, scraper);
  });

  test('has readable columns in kubectl', async () => {
    const table = await inNamespace('get', 'hcp');
    expect(table).toMatch(/NAME +STATUS +VERSION +REPLICAS +READY +AGE/);
    expect(table).toMatch(/demo +Ready +v1\.37\.1 +3 +3 +\S+$/m);
    const wide = await inNamespace('get', 'hcp', '--output', 'wide');
    const { status } = await controlPlane();
    expect(wide).toMatch(/ RELEASE +CERTIFICATES UNTIL$/m);
    expect(wide).toMatch(new RegExp(` ${newestRevision} +${status?.certificatesNotAfter}$`, 'm'));
  });

  test.each([
    ['kube-apiserver', 'api-server'],
    ['kube-controller-manager', 'controller-manager'],
    ['kube-scheduler', 'scheduler'],
  ])('prints the log of %s by the labels of its pods', async (container, component) => {
    const ofCluster = `cluster.x-k8s.io/cluster-name=${name}`;
    const logs = (selector: string) => inNamespace('logs', '--selector', selector, '--container', container);
    // The label of the cluster alone selects pods without that container, too.
    await expect(logs(ofCluster)).rejects.toThrow(`container ${container} is not valid for pod`);
    expect(await logs(`${ofCluster},app.kubernetes.io/component=${component}`)).not.toBe('');
  });

  test('has every certificate as planned, for a year and for ten', async () => {
    const user = new HcpUser({ client: () => bench.client, kubeconfig: () => kubeconfig, namespace });
    const { code, out, err } = await user.run('status', name, '-n', namespace, '-o', 'json').ended;
    await user.end();
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const { certificates } = JSON.parse(out) as { readonly certificates: readonly CertificateStatus[] };
    expect(certificates.map(({ kind }) => kind)).toEqual(certificateKinds);
    expect(certificates.flatMap(({ expiring = [] }) => expiring)).toEqual([]);
    const years = certificates.map(({ notAfter }) => Math.round((Date.parse(notAfter) - Date.now()) / 31_536_000_000));
    expect(new Set(years)).toEqual(new Set([10, 1]));
  });

  test('writes no secret to the log of its operator', async () => {
    const operators = ['--namespace', providerNamespace, '--selector', 'control-plane=controller-manager'];
    const log = await kubectl(instance, ['logs', ...operators, '--tail=-1']);
    expect(log).toContain('"condition":"Ready"');
    expect(log.split('\n').filter((line) => privateKeyIn(line) !== undefined)).toEqual([]);
  });

  test('is stable: its operator has written nothing while others only read', async () => {
    expect(before.length).toBeGreaterThan(30);
    expect(await writtenObjects(bench)).toEqual(before);
  });
});

interface NodeObject extends KubeObject {
  readonly spec?: { readonly taints?: readonly { readonly key: string }[] };
}

/** The taint with which the bootstrap provider lets machines join. */
const uninitialized = 'node.cluster.x-k8s.io/uninitialized';

describe('with infrastructure and Machines', () => {
  beforeAll(async () => {
    bench = new Workbench(namespace, new KubeClient(await connect(loadKubeConfig(kubeconfig))));
    await prepareForMachines(instance, bench);
  });
  afterAll(() => bench.client.connection.close());

  test('is Available for Cluster API', async () => {
    type ClusterStatus = KubeObject & { readonly status?: { readonly conditions?: readonly Condition[] } };
    // Cluster API repeats its probe of a control plane that did not answer at first after half a minute, and writes conditions before
    // the rest of a status.
    let seen: readonly Condition[] = [];
    const isAvailable = async () => {
      seen = (await bench.client.get<ClusterStatus>(Cluster, demoCluster)).status?.conditions ?? [];
      return seen.some(({ type, status }) => type === 'Available' && status === 'True');
    };
    await until('Cluster API to find the Cluster available', isAvailable, 180_000, () => seen);
    const { controlPlaneEndpoint } = (await controlPlane()).spec;
    const three = { desiredReplicas: 3, readyReplicas: 3, availableReplicas: 3, upToDateReplicas: 3 };
    const status = {
      phase: 'Provisioned',
      initialization: { controlPlaneInitialized: true },
      controlPlane: three,
    };
    await expect
      .poll(() => bench.client.get(Cluster, demoCluster), { timeout: 60_000 })
      .toMatchObject({ spec: { controlPlaneEndpoint }, status });
  });

  test('the kubeadm bootstrap provider creates the bootstrap data of a machine', async () => {
    const deployment = { namespace, cluster: name, version: kubernetesVersion, replicas: 1 };
    await createMachineDeployment(instance, bench.client, deployment);
    const userData = await bootstrapData(instance, namespace, await newestMachine(instance, namespace));
    expect(userData).toContain('kubeadm join');
    const { host, port } = (await controlPlane()).spec.controlPlaneEndpoint ?? {};
    expect(joinConfigurationIn(userData)).toMatchObject({
      apiVersion: 'kubeadm.k8s.io/v1beta4',
      kind: 'JoinConfiguration',
      nodeRegistration: { taints: expect.arrayContaining([expect.objectContaining({ key: uninitialized })]) },
      discovery: { bootstrapToken: { apiServerEndpoint: `${host}:${port}`, caCertHashes: [expect.any(String)] } },
    });
  });

  test('a machine that joins with it becomes the Node of its Machine, without taint, which goes with its Machine', async () => {
    const machine = await newestMachine(instance, namespace);
    try {
      await joinMachineOf(instance, bench.client, { namespace, cluster: name, name: machine });
      // Cluster API writes conditions, which the previous wait observed, before the rest of a status.
      const nodeName = () => inNamespace('get', 'machine', machine, '--output', 'jsonpath={.status.nodeRef.name}');
      expect(await until('a Node of the Machine', async () => (await nodeName()) || undefined)).toBe(machine);
      await withHostedApi(instance, demoCluster, async ({ client }) => {
        const taints = async () => (await client.get<NodeObject>(Node, { name: machine })).spec?.taints ?? [];
        await until('core to remove its taint', async () => (await taints()).every(({ key }) => key !== uninitialized));
        // Core drains the Node and deletes it, as there is no control plane of Machines to protect.
        await inNamespace('delete', 'machine', machine, '--timeout=180s');
        expect(await client.find(Node, { name: machine })).toBeUndefined();
      });
    } finally {
      await removeMachine(instance, machine);
    }
  });

  test('the ClusterResourceSet of the OpenStack stack delivers the credentials into the hosted cluster', async () => {
    const clouds = 'clouds:\n  openstack: {}\n';
    const stack = { version: 'v1', namespace, capo: 'v1beta1' } as const;
    const props = { name, namespace, version: kubernetesVersion, stack, workers: {}, clouds };
    const objects = new OpenStackHostedCluster(new App(), 'delivery', props).toJson() as RenderedObject[];
    const label = objects.find(({ kind }) => kind === Cluster.kind)?.metadata.labels;
    const [pair] = Object.entries(label ?? {}).map((entry) => entry.join('='));
    const items = objects.filter(({ kind }) => [Secret.kind, ClusterResourceSet.GVK.kind].includes(kind));
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    await inNamespace('label', 'cluster', name, String(pair));
    await kubectl(instance, ['apply', '--filename', '-'], list);
    await withHostedApi(instance, demoCluster, async ({ client }) => {
      const delivered = await until('the Secret in the hosted cluster', () =>
        client.find<SecretObject>(Secret, { namespace: 'kube-system', name: 'clouds-yaml' }),
      );
      expect(valueOf(delivered, 'clouds.yaml')).toBe(clouds);
    });
    await kubectl(instance, ['delete', '--filename', '-'], list);
  });

  test('core deletes the control plane when no Machine is left', async () => {
    const machines = () => machineNames(instance, namespace);
    const isDeleted = async () => {
      const found = await bench.client.find(HostedControlPlane, demoCluster);
      return found === undefined || found.metadata.deletionTimestamp !== undefined;
    };
    expect(await machines()).not.toEqual([]);
    expect(await isDeleted()).toBe(false);
    await bench.beginDeletion(name);
    const deletion = async () => (await isDeleted()) && machines();
    expect(await until('the deletion of the control plane', deletion, 180_000, machines)).toEqual([]);
  });

  test('leaves nothing when its Cluster is deleted', async () => {
    await bench.delete(name);
    expect(await bench.everything()).toEqual([]);
  });
});

test('the demo takes everything down that it has brought up', async () => {
  await runScript('demo', ['--down'], env);
  expect(await checkHealth(instance)).toEqual({ state: 'down' });
});

function controlPlane(): Promise<HostedControlPlaneObject> {
  return bench.client.get<HostedControlPlaneObject>(HostedControlPlane, demoCluster);
}
