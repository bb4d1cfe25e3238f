import { join } from 'node:path';
import { App } from 'cdk8s';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { RenderedObject } from '../../constructs/control-plane/chart.ts';
import { OpenStackClusterClass } from '../../constructs/stacks/openstack/cluster-class.ts';
import { classNameOf } from '../../constructs/stacks/openstack/cluster-stack.ts';
import { OpenStackHostedCluster } from '../../constructs/stacks/openstack/cluster.ts';
import { minorOf } from '../../constructs/cluster/versions.ts';
import { ClusterStack } from '../../imports/clusterstack.x-k8s.io.ts';
import { startInfrastructureProvider } from '../infrastructure-provider/start.ts';
import type { ChildProgram } from '../support/child-program.ts';
import { onceWebhooksAnswer } from '../support/cluster-api-webhooks.ts';
import { installProvider, removeProvider } from '../support/provider.ts';
import { deleteCluster, untilAvailable, untilNodes } from '../support/stacks/cluster-with-workers.ts';
import { kubernetesVersion, Workbench } from '../support/workbench.ts';
import { installAddon } from '../tools/testbed/addons.ts';
import { clustersDomain } from '../tools/testbed/gateway-address.ts';
import { Helm } from '../tools/testbed/helm.ts';
import { instanceFrom } from '../tools/testbed/instance.ts';
import { kubectl } from '../tools/testbed/kubectl.ts';
import { repository } from '../tools/testbed/operator-bundle.ts';

// As the pages of both stacks say, from an empty namespace to workers, with machines of the testbed in the place of those of the clouds.
const instance = instanceFrom(process.env, inject('testbed'));
const report = (line: string): void => console.log(line);
const names = { hetzner: 'hetzner', openstack: 'openstack' } as const;
const providers: ChildProgram[] = [];
const benches: Workbench[] = [];
let program: Helm;

beforeAll(async () => {
  program = await Helm.open(instance, report);
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
  await program.close();
});

test('the chart for Hetzner Cloud becomes a cluster with workers, and is scaled and deleted as its page says', async () => {
  const cluster = { namespace: names.hetzner, name: 'hetzner01' };
  const host = (what: string): string => `${what}.${cluster.name}.${cluster.namespace}.${clustersDomain}`;
  const chart = join(repository, 'dist/stacks/hetzner/hetzner-hosted-cp');
  const helm = (verb: string, values: object): Promise<string> =>
    program.run([verb, cluster.name, chart, '--namespace', cluster.namespace, '--values', '-'], JSON.stringify(values));
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
  await untilAvailable(instance, cluster);
  expect(await untilNodes(instance, cluster, 1)).toEqual([`hcloud ${kubernetesVersion}`]);
  await helm('upgrade', values(2));
  await untilNodes(instance, cluster, 2);
  expect(await deleteCluster(instance, cluster)).toEqual([]);
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
  await untilAvailable(instance, cluster);
  expect(await untilNodes(instance, cluster, 1)).toEqual([`openstack ${kubernetesVersion}`]);
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
  await untilNodes(instance, cluster, 2);
  expect(await deleteCluster(instance, cluster)).toEqual([]);
});
