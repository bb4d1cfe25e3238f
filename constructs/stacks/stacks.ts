import { App } from 'cdk8s';
import { manifest } from '../cluster/manifest.ts';
import type { StackFile } from './helm-chart.ts';
import { capoVersions } from './openstack/class-patch.ts';
import { OpenStackHostedCluster } from './openstack/cluster.ts';
import { clusterStackFiles, stackNames } from './openstack/cluster-stack.ts';
import { renderedMinors, stackMinor } from './openstack/minors.ts';

/** Version of the stacks, which grows with every release that changes one of them. */
const stackVersion = 'v1';

/** Every file of the stacks, by its path below `dist/stacks/`. */
export function stackFiles(): StackFile[] {
  return [...openStackFiles()];
}

function openStackFiles(): StackFile[] {
  const stacks = capoVersions.flatMap((capo) =>
    renderedMinors.map((minor) => ({ minor, version: stackVersion, capo })),
  );
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
    version: stackMinor(Math.max(...renderedMinors)).kubernetes,
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
