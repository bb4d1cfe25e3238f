import { App } from 'cdk8s';
import { manifest } from '../cluster/manifest.ts';
import type { StackFile } from '../helm/chart.ts';
import { hetznerChart, hetznerChartFiles } from './hetzner/chart.ts';
import { haproxyChart, haproxyValues } from './hetzner/haproxy.ts';
import { HetznerClusterDeployment, HetznerClusterTemplate } from './hetzner/k0rdent.ts';
import { capoVersions } from './openstack/class-patch.ts';
import { OpenStackHostedCluster } from './openstack/cluster.ts';
import { clusterStackFiles, stackNames } from './openstack/cluster-stack.ts';
import { newestMinor, stackMinor } from './openstack/minors.ts';

/** Version of the stacks, which grows with every release that changes one of them. */
const stackVersion = 'v1';

/** Every file of the stacks, by its path below `dist/stacks/`. @param minors of the stacks for OpenStack */
export function stackFiles(minors: readonly number[]): StackFile[] {
  return [...openStackFiles(minors), ...hetznerFiles()];
}

function openStackFiles(minors: readonly number[]): StackFile[] {
  const stacks = capoVersions.flatMap((capo) => minors.map((minor) => ({ minor, version: stackVersion, capo })));
  return [
    ...stacks.flatMap((stack) =>
      clusterStackFiles(stack).map(({ path, content }) => ({
        path: `providers/openstack/${stackNames[stack.capo]}/1-${stack.minor}/${path}`,
        content,
      })),
    ),
    {
      path: 'openstack-cluster.yaml',
      content: manifest(
        ['A cluster with workers in OpenStack, and the stack that it uses. Replace the ID of the external network.'],
        openStackSample(),
      ),
    },
  ];
}

function openStackSample(): object[] {
  const namespace = 'cluster';
  const chart = new OpenStackHostedCluster(new App(), 'cluster', {
    name: 'my-hosted-cluster',
    namespace,
    version: stackMinor(newestMinor).kubernetes,
    stack: { version: stackVersion, namespace, capo: 'v1beta1' },
    controlPlaneReplicas: 3,
    workers: { 'md-0': 2 },
    variables: {
      networkExternalID: 'a2c9b1c6-6f5e-4d1c-8a35-1f5a3b0c7d42',
      workerFlavor: 'SCS-2V-4',
      workerRootDisk: 25,
    },
  });
  return chart.toJson() as object[];
}

function hetznerFiles(): StackFile[] {
  const haproxy = `Values of the chart ${haproxyChart.name} of ${haproxyChart.repository}`;
  const file = (path: string, purpose: string, objects: readonly object[]) => ({
    path: `hetzner/${path}`,
    content: manifest([purpose], objects),
  });
  return [
    ...hetznerChartFiles().map(({ path, content }) => ({ path: `hetzner/${hetznerChart.name}/${path}`, content })),
    file('haproxy-values.yaml', `${haproxy}, behind the load balancer of the management cluster.`, [haproxyValues()]),
    file('haproxy-values-load-balancer.yaml', `${haproxy}, with a load balancer of its own.`, [
      haproxyValues({ loadBalancerRegion: 'nbg1' }),
    ]),
    file('k0rdent.yaml', 'The chart as a template of kcm, and a cluster of it.', hetznerSample()),
  ];
}

function hetznerSample(): object[] {
  const app = new App();
  const template = new HetznerClusterTemplate(app, 'template', { repository: 'hosted-control-plane' });
  const deployment = new HetznerClusterDeployment(app, 'deployment', {
    name: 'cluster01',
    credential: 'hcloud-cluster-provisioning',
    config: {
      workersNumber: 2,
      controlPlane: {
        replicas: 2,
        ingress: { apiHost: 'api.cluster01.example.org', konnectivityHost: 'konnectivity.cluster01.example.org' },
      },
      region: 'nbg1',
      sshKeyNames: ['me@example.org'],
      tokenRef: { name: 'hcloud-cluster-provisioning-token', key: 'HCLOUD_TOKEN' },
      kubernetesVersion: 'v1.34.3',
    },
  });
  return [...(template.toJson() as object[]), ...(deployment.toJson() as object[])];
}
