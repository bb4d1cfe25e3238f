import { KubeadmConfigTemplate } from '../../imports/bootstrap.cluster.x-k8s.io.ts';
import { MachineDeployment } from '../../imports/cluster.x-k8s.io.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import type { Instance } from '../tools/testbed/instance.ts';
import { kubectl } from '../tools/testbed/kubectl.ts';
import { createMachineTemplate, machineTemplateRef } from './infrastructure.ts';

/** The references of a MachineDeployment. */
export interface MachineDeploymentOptions {
  readonly namespace: string;
  /** The Cluster's name, and the deployment's own. */
  readonly cluster: string;
  readonly version: string;
  readonly replicas: number;
}

/** Creates a MachineDeployment of stub machines that the kubeadm bootstrap provider prepares. */
export async function createMachineDeployment(
  instance: Instance,
  client: KubeClient,
  { namespace, cluster, version, replicas }: MachineDeploymentOptions,
): Promise<void> {
  await createMachineTemplate(client, namespace, cluster);
  const metadata = { namespace, name: cluster };
  const configRef = { apiGroup: 'bootstrap.cluster.x-k8s.io', kind: KubeadmConfigTemplate.GVK.kind, name: cluster };
  const kubeletExtraArgs = [{ name: 'node-labels', value: 'made-by=cluster-api' }];
  const items = [
    KubeadmConfigTemplate.manifest({
      metadata,
      spec: { template: { spec: { joinConfiguration: { nodeRegistration: { kubeletExtraArgs } } } } },
    }),
    MachineDeployment.manifest({
      metadata,
      spec: {
        clusterName: cluster,
        replicas,
        selector: {},
        template: {
          spec: {
            clusterName: cluster,
            version,
            bootstrap: { configRef },
            infrastructureRef: machineTemplateRef(cluster),
          },
        },
      },
    }),
  ];
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  await kubectl(instance, ['apply', '--server-side', '--filename', '-'], list);
}
