import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'cdk8s';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HostedControlPlane } from '../../constructs/api/resources.ts';
import type { RenderedObject } from '../../constructs/control-plane/chart.ts';
import { OpenStackClusterClass } from '../../constructs/stacks/openstack/cluster-class.ts';
import { classNameOf } from '../../constructs/stacks/openstack/cluster-stack.ts';
import { KubeClient } from '../../reconciler/kube/client.ts';
import { connect, loadKubeConfig } from '../../reconciler/kube/config.ts';
import { isReady } from '../../reconciler/kube/readiness.ts';
import { startInfrastructureProvider } from '../infrastructure-provider/start.ts';
import { openstack } from '../seeds/openstack.ts';
import type { Typed } from '../seeds/typed.ts';
import type { ChildProgram } from '../support/child-program.ts';
import { onceWebhooksAnswer } from '../support/cluster-api-webhooks.ts';
import { ownTestbed } from '../support/own-testbed.ts';
import { typeInto } from '../support/page-shell.ts';
import { loadOperatorImage } from '../support/provider.ts';
import { machinesOf, untilAvailable, untilNodes } from '../support/stacks/cluster-with-workers.ts';
import { until } from '../support/until.ts';
import { kubernetesVersion, Workbench } from '../support/workbench.ts';
import { installAddon } from '../tools/testbed/addons.ts';
import { bringUp } from '../tools/testbed/bring-up.ts';
import { addMinor } from '../tools/testbed/further-minor.ts';
import { binDirectory, kubeconfigPath } from '../tools/testbed/instance.ts';
import { kubectl } from '../tools/testbed/kubectl.ts';
import { repository } from '../tools/testbed/operator-bundle.ts';
import { attempt } from '../tools/testbed/run.ts';

// What the page of the OpenStack stack lets its readers type, from the installation to the deletion, with a process in the place
// of CAPO, whose machines are those of the testbed, and the class as the cluster stack operator would create it.
const instance = ownTestbed('seed');
const report = (line: string): void => console.log(line);
const cluster = { namespace: 'cluster', name: 'my-hosted-cluster' };
const stack = { version: 'v1', capo: 'v1beta1' } as const;
/** The seed's minor, and the next one, are none that the tests build. */
const minors = { seed: { minor: '1-33', version: 'v1.33.6' }, next: { minor: '1-34', version: 'v1.34.10' } } as const;
let older: string;
let directory: string;
let capo: ChildProgram;
let client: KubeClient;
let bench: Workbench;

beforeAll(async () => {
  await bringUp(instance, report);
  ({ version: older } = await addMinor(instance, '1.36', report));
  directory = await mkdtemp(join(tmpdir(), 'seed-'));
  await symlink(join(repository, 'dist'), join(directory, 'dist'));
  await writeFile(join(directory, 'clouds.yaml'), 'clouds:\n  openstack: {}\n');
  await installAddon(instance, 'kubeadm-bootstrap', report);
  await loadOperatorImage(instance, report);
  capo = await startInfrastructureProvider(instance, 'openstack');
  client = new KubeClient(await connect(loadKubeConfig(kubeconfigPath(instance))));
  bench = new Workbench(cluster.namespace, client);
}, 600_000);
afterAll(async () => {
  await client.connection.close();
  await capo.end();
  await rm(directory, { recursive: true, force: true });
});

const exports: string[] = [];

/** Types the commands of the seed that a test proves, in their order; returns what they printed, one after the other. */
async function typeAll(title: string): Promise<string[]> {
  const printed: string[] = [];
  for (const typed of openstack) {
    if (!('proof' in typed && typed.proof[0] === 'soak/openstack-seed.test' && typed.proof[1] === title)) continue;
    const command = commandOf(typed);
    if (command === undefined) continue;
    if (command.startsWith('export ')) exports.push(command);
    else printed.push(await type(command));
  }
  return printed;
}

function commandOf(typed: Typed): string | undefined {
  const command = 'instead' in typed ? typed.instead : 'command' in typed ? typed.command : undefined;
  return command
    ?.replaceAll(minors.next.minor, '1-37')
    .replaceAll(minors.next.version, kubernetesVersion)
    .replaceAll('/tmp/kubeconfig', 'kubeconfig');
}

/** Runs a command as a reader's shell does; one that watches is interrupted when it has printed what there is. */
function type(command: string): Promise<string> {
  const watches = command.endsWith(' -w');
  const shell = watches ? `timeout --preserve-status --signal INT 3 ${command} || true` : command;
  return typeInto({ instance, directory }, [...exports, shell].join('\n'));
}

/** What the cluster stack operator creates for a ClusterStack. */
async function createClass(minor: number): Promise<void> {
  const name = classNameOf({ minor, ...stack });
  const items = new OpenStackClusterClass(new App(), 'class', { name, capo: stack.capo }).toJson() as RenderedObject[];
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  const apply = ['apply', '--server-side', '--namespace', cluster.namespace, '--filename', '-'];
  await onceWebhooksAnswer(() => kubectl(instance, apply, list));
}

/** The manifests as the seed has them, with an ID in the place of YOUR-EXTERNAL-NETWORK-ID. */
const clusterResourceSet = `apiVersion: addons.cluster.x-k8s.io/v1beta1
kind: ClusterResourceSet
metadata: { name: clouds-yaml, namespace: $CLUSTER_NAMESPACE }
spec:
  strategy: "Reconcile"
  clusterSelector: { matchLabels: { managed-secret: clouds-yaml } }
  resources: [{ name: clouds-yaml, kind: Secret }]`;
const seedCluster = `apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata:
  name: $CLUSTER_NAME
  namespace: $CLUSTER_NAMESPACE
  labels: { managed-secret: clouds-yaml }
spec:
  clusterNetwork:
    pods: { cidrBlocks: ["172.16.0.0/16"] }
    serviceDomain: cluster.local
    services: { cidrBlocks: ["10.96.0.0/12"] }
  topology:
    class: openstack-hosted-control-plane-${minors.seed.minor}-$CLUSTERSTACK_VERSION
    classNamespace: $CLUSTERSTACK_NAMESPACE
    controlPlane: { replicas: 3 }
    version: ${minors.seed.version}
    variables:
      - { name: controlPlaneReplicas, value: 3 }
      - { name: workerFlavor, value: "SCS-2V-4" }
      - { name: workerRootDisk, value: 25 }
      - { name: imageName, value: "ubuntu-capi-image" }
      - { name: imageAddVersion, value: true }
      - { name: networkExternalID, value: "ebfe5546-f09f-4f42-ab54-094e457d42ec" }
      - { name: nodeCIDR, value: "10.8.0.0/20" }
      - { name: dnsNameservers, value: ["9.9.9.9", "149.112.112.112"] }
      - name: identityRef
        value: { name: "openstack", cloudName: "openstack" }
    workers: { machineDeployments: [{ class: default-worker, name: md-0, replicas: 2 }] }`;

async function apply(manifest: string): Promise<void> {
  await onceWebhooksAnswer(() => type(`cat <<EOF | kubectl apply -f -\n${manifest}\nEOF`));
}

test('is installed, and gets credentials', async () => {
  const printed = await typeAll('is installed, and gets credentials');
  expect(printed.join('')).toMatch(/hosted-control-plane-controller-manager-.* /);
  expect(printed.join('')).toContain('secret/clouds-yaml created');
  await kubectl(instance, [
    'rollout',
    'status',
    'deployment',
    '--namespace',
    'capi-hosted-control-plane-system',
    '--timeout=60s',
  ]);
});

test('becomes a cluster with workers', async () => {
  for (const minor of [36, 37]) await createClass(minor);
  await apply(clusterResourceSet);
  await apply(seedCluster.replace(minors.seed.minor, '1-36').replace(minors.seed.version, older));
  await untilAvailable(instance, cluster);
  expect(await untilNodes(instance, cluster, 2, older)).toEqual([`openstack ${older}`, `openstack ${older}`]);
});

test('shows its state', async () => {
  const printed = await typeAll('shows its state');
  const [watched, controlPlane, pods, machines, , nodes] = printed;
  expect(watched).toContain(cluster.name);
  expect(controlPlane).toMatch(/v1\.36/);
  for (const component of ['etcd', 'api-server', 'controller-manager', 'scheduler']) {
    expect(pods).toMatch(new RegExp(`${cluster.name}-${component}-.* Running`));
  }
  expect(machines).toMatch(/my-hosted-cluster-md-0-.* Running/);
  expect(nodes).toMatch(/ Ready /);
  expect(printed.at(-1)).toContain('coredns');
  const secret = ['get', 'secret', 'clouds-yaml', '--namespace', 'kube-system'];
  const hosted = [join(binDirectory(instance), 'kubectl'), '--kubeconfig', join(directory, 'kubeconfig')] as const;
  expect(await attempt([...hosted, ...secret])).toBe(true);
});

test('follows the next minor, workers last', async () => {
  // By default the new binaries emulate the minor before for five minutes.
  const { namespace } = cluster;
  for (const { metadata } of (await client.list(HostedControlPlane, { namespace })).items) {
    const spec = { upgrade: { hold: '0s' } };
    await client.mergePatch(HostedControlPlane, { namespace, name: metadata.name }, { spec }, { fieldManager: 'user' });
  }
  await typeAll('follows the next minor, workers last');
  expect(await untilNodes(instance, cluster, 2)).toHaveLength(2);
});

test('is scaled', async () => {
  const printed = await typeAll('is scaled');
  expect(printed).toHaveLength(4);
  await untilNodes(instance, cluster, 5);
  const servers = async () => (await bench.pods(cluster.name, 'api-server')).filter(isReady).length;
  await until('5 API servers', async () => (await servers()) === 5, 180_000);
});

test('is deleted with its machines', async () => {
  await typeAll('is deleted with its machines');
  expect(await machinesOf(instance, cluster.name)).toEqual([]);
});
