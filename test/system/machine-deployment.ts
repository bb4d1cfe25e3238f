import type { KubeClient } from '../../reconciler/kube/client.ts';
import type { Instance } from '../testbed/instance.ts';
import { kubectl } from '../testbed/kubectl.ts';
import { createMachineTemplate, machineTemplateRef } from './infrastructure.ts';

/** What a MachineDeployment is made from. */
export interface MachineDeploymentOptions {
  readonly namespace: string;
  /** The Cluster's name, and the deployment's own. */
  readonly cluster: string;
  readonly version: string;
  readonly replicas: number;
}

/** Makes a MachineDeployment of stub machines that the kubeadm bootstrap provider prepares. */
export async function createMachineDeployment(
  instance: Instance,
  client: KubeClient,
  { namespace, cluster, version, replicas }: MachineDeploymentOptions,
): Promise<void> {
  await createMachineTemplate(client, namespace, cluster);
  const metadata = { namespace, name: cluster };
  const group = 'bootstrap.cluster.x-k8s.io';
  const kubeletExtraArgs = [{ name: 'node-labels', value: 'made-by=cluster-api' }];
  const items = [
    {
      apiVersion: `${group}/v1beta2`,
      kind: 'KubeadmConfigTemplate',
      metadata,
      spec: { template: { spec: { joinConfiguration: { nodeRegistration: { kubeletExtraArgs } } } } },
    },
    {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'MachineDeployment',
      metadata,
      spec: {
        clusterName: cluster,
        replicas,
        selector: {},
        template: {
          spec: {
            clusterName: cluster,
            version,
            bootstrap: { configRef: { apiGroup: group, kind: 'KubeadmConfigTemplate', name: cluster } },
            infrastructureRef: machineTemplateRef(cluster),
          },
        },
      },
    },
  ];
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  await kubectl(instance, ['apply', '--server-side', '--filename', '-'], list);
}
