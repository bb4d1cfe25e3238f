import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'cdk8s';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { Node } from '../../constructs/api/resources.ts';
import type { RenderedObject } from '../../constructs/control-plane/chart.ts';
import { OpenStackClusterClass } from '../../constructs/stacks/openstack/cluster-class.ts';
import { classNameOf } from '../../constructs/stacks/openstack/cluster-stack.ts';
import { OpenStackHostedCluster } from '../../constructs/stacks/openstack/cluster.ts';
import { minorOf } from '../../constructs/cluster/versions.ts';
import { ClusterStack } from '../../imports/clusterstack.x-k8s.io.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { startInfrastructureProvider } from '../infrastructure-provider/start.ts';
import type { ChildProgram } from '../support/child-program.ts';
import { onceWebhooksAnswer } from '../support/cluster-api-webhooks.ts';
import { installProvider, removeProvider } from '../support/provider.ts';
import { until } from '../support/until.ts';
import { kubernetesVersion, Workbench } from '../support/workbench.ts';
import { installAddon } from '../testbed/addons.ts';
import { findFurtherBinaries } from '../testbed/binaries.ts';
import { helm as helmFamily } from '../testbed/families.ts';
import { clustersDomain } from '../testbed/gateway-address.ts';
import type { ClusterName } from '../testbed/hosted-api.ts';
import { instanceFrom, kubeconfigPath } from '../testbed/instance.ts';
import { kubectl } from '../testbed/kubectl.ts';
import { machineNames } from '../testbed/machine.ts';
import { repository } from '../testbed/operator-bundle.ts';
import { run } from '../testbed/run.ts';
import { withHostedApi } from '../testbed/workers.ts';

// As the pages of both stacks say, from an empty namespace to workers, with machines of the testbed in the place of those of the clouds.
const instance = instanceFrom(process.env, inject('testbed'));
const report = (line: string): void => console.log(line);
const limitMs = 300_000;
const names = { hetzner: 'hetzner', openstack: 'openstack' } as const;
const providers: ChildProgram[] = [];
const benches: Workbench[] = [];
let home: string;
let program: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'helm-'));
  ({ helm: program = '' } = await findFurtherBinaries([helmFamily], instance.cache, report));
  await installAddon(instance, 'traefik', report);
  await installAddon(instance, 'kubeadm-bootstrap', report);
  await installProvider(instance, report);
  for (const cloud of [names.hetzner, names.openstack]) {
    providers.push(await startInfrastructureProvider(instance, cloud));
    benches.push(await Workbench.open(inject('kubeconfig'), cloud));
  }
});
afterAll(async () => {
  for (const bench of benches) {
    await bench.deleteAll();
    await bench.close();
  }
  for (const provider of providers) await provider.end();
  await removeProvider(instance);
  await rm(home, { recursive: true, force: true });
});

interface NodeObject extends KubeObject {
  readonly spec?: { readonly providerID?: string };
  readonly status?: {
    readonly nodeInfo?: { readonly kubeletVersion: string };
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/** Resolves with so many Ready Nodes, each by the name of its machine in the cloud, and its version. */
async function untilNodes(cluster: ClusterName, count: number): Promise<string[]> {
  let seen: string[] = [];
  const ready = async () => {
    const { items } = await withHostedApi(instance, cluster, ({ client }) => client.list<NodeObject>(Node));
    seen = items
      .filter(({ status }) => status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'))
      .map(({ spec, status }) => `${spec?.providerID?.split('://')[0]} ${status?.nodeInfo?.kubeletVersion}`);
    return seen.length === count && seen;
  };
  return until(
    `${count} nodes of ${cluster.name}`,
    () => ready().catch(() => undefined),
    limitMs,
    () => seen,
  );
}

const untilAvailable = ({ namespace, name }: ClusterName): Promise<string> =>
  kubectl(instance, ['wait', 'cluster', name, '--namespace', namespace, '--for=condition=Available', '--timeout=5m']);

/** Deletes a Cluster, which ends when its machines and its control plane are gone. */
async function remove({ namespace, name }: ClusterName): Promise<void> {
  await kubectl(instance, ['delete', 'cluster', name, '--namespace', namespace, '--timeout=5m']);
  expect((await machineNames(instance)).filter((machine) => machine.startsWith(name))).toEqual([]);
}

test('the chart for Hetzner Cloud becomes a cluster with workers, and is scaled and deleted as its page says', async () => {
  const cluster = { namespace: names.hetzner, name: 'hetzner01' };
  const host = (what: string): string => `${what}.${cluster.name}.${cluster.namespace}.${clustersDomain}`;
  const chart = join(repository, 'dist/stacks/hetzner/hetzner-hosted-cp');
  const helm = (verb: string, values: object): Promise<string> =>
    run([program, verb, cluster.name, chart, '--namespace', cluster.namespace, '--values', '-'], {
      input: JSON.stringify(values),
      env: { ...process.env, HOME: home, KUBECONFIG: kubeconfigPath(instance) },
    });
  const ingress = {
    apiHost: host('api'),
    konnectivityHost: host('konnectivity'),
    controller: 'nginx',
    className: 'nginx',
  };
  const values = (workersNumber: number) => ({
    kubernetesVersion,
    region: 'nbg1',
    workersNumber,
    controlPlane: { replicas: 1, ingress },
    clusterNetwork: { services: ['10.128.0.0/16'] },
  });
  await onceWebhooksAnswer(() => helm('install', values(1)));
  await untilAvailable(cluster);
  expect(await untilNodes(cluster, 1)).toEqual([`hcloud ${kubernetesVersion}`]);
  await helm('upgrade', values(2));
  await untilNodes(cluster, 2);
  await remove(cluster);
});

test('the class for OpenStack becomes a cluster with workers, and is scaled and deleted as its page says', async () => {
  const namespace = names.openstack;
  const cluster = { namespace, name: 'openstack01' };
  const stack = { version: 'v1', namespace, capo: 'v1beta1' } as const;
  const className = classNameOf({ minor: minorOf(kubernetesVersion), ...stack });
  const ofClass = new OpenStackClusterClass(new App(), 'class', { name: className, capo: stack.capo }).toJson();
  const ofUser = new OpenStackHostedCluster(new App(), 'cluster', {
    ...cluster,
    version: kubernetesVersion,
    stack,
    controlPlaneReplicas: 1,
    workers: { 'md-0': 1 },
    clouds: 'clouds:\n  openstack: {}\n',
    services: ['10.128.0.0/16'],
    pods: ['10.244.0.0/16'],
  }).toJson();
  const items = ([...ofClass, ...ofUser] as RenderedObject[]).filter(({ kind }) => kind !== ClusterStack.GVK.kind);
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  await onceWebhooksAnswer(() =>
    kubectl(instance, ['apply', '--server-side', '--namespace', namespace, '--filename', '-'], list),
  );
  await untilAvailable(cluster);
  expect(await untilNodes(cluster, 1)).toEqual([`openstack ${kubernetesVersion}`]);
  const two = JSON.stringify([
    { op: 'replace', path: '/spec/topology/workers/machineDeployments/0/replicas', value: 2 },
  ]);
  await kubectl(instance, [
    'patch',
    'cluster',
    cluster.name,
    '--namespace',
    namespace,
    '--type=json',
    `--patch=${two}`,
  ]);
  await untilNodes(cluster, 2);
  await remove(cluster);
});
