import { ApiObject, Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { KubeadmConfigTemplate } from '../../../imports/bootstrap.cluster.x-k8s.io.ts';
import { Cluster } from '../../../imports/cluster.x-k8s.io.ts';
import { groupOf, HostedControlPlane } from '../../api/resources.ts';
import { Workers } from '../workers.ts';
import { numericVariable, variable } from './variables.ts';

/** How clients reach the API server: by a load balancer of its own, or by a Gateway that control planes share. */
export type TemplateAccess = 'loadBalancer' | 'gateway';

/** The networks of the hosted cluster. */
export const clusterNetwork = () => ({
  pods: { cidrBlocks: [variable('POD_CIDR')] },
  services: { cidrBlocks: [variable('SERVICE_CIDR')] },
});

/**
 * A Cluster with a hosted control plane and workers, with variables for clusterctl. The objects of the infrastructure provider
 * are not part of it: their content differs from provider to provider, and their names are those of the Cluster.
 */
export class ClusterTemplate extends Chart {
  constructor(scope: Construct, id: string, access: TemplateAccess) {
    super(scope, id, { disableResourceNameHashes: true });
    const name = variable('CLUSTER_NAME');
    const infrastructure = { apiGroup: variable('INFRASTRUCTURE_GROUP'), name };
    const named = (suffix = '') => ({ name: `${name}${suffix}`, namespace: variable('NAMESPACE') });
    const version = variable('KUBERNETES_VERSION');
    new Cluster(this, 'cluster', {
      metadata: named(),
      spec: {
        clusterNetwork: clusterNetwork(),
        controlPlaneRef: { apiGroup: groupOf(HostedControlPlane), kind: HostedControlPlane.kind, name: `${name}-cp` },
        infrastructureRef: { ...infrastructure, kind: `${variable('INFRASTRUCTURE')}Cluster` },
      },
    });
    new ApiObject(this, 'control-plane', {
      apiVersion: HostedControlPlane.apiVersion,
      kind: HostedControlPlane.kind,
      metadata: named('-cp'),
      spec: { version, replicas: numericVariable('CONTROL_PLANE_MACHINE_COUNT'), ...accessOf[access]() },
    });
    new KubeadmConfigTemplate(this, 'worker-config', {
      metadata: named('-worker'),
      // The default, because an empty spec is refused.
      spec: { template: { spec: { format: 'cloud-config' } } },
    });
    new Workers(this, 'workers', {
      metadata: named('-worker'),
      clusterName: name,
      version,
      replicas: numericVariable('WORKER_MACHINE_COUNT'),
      bootstrap: `${name}-worker`,
      infrastructure: { ...infrastructure, kind: `${variable('INFRASTRUCTURE')}MachineTemplate` },
    });
  }
}

const accessOf: Readonly<Record<TemplateAccess, () => object>> = {
  loadBalancer: () => ({ exposure: { loadBalancer: {} } }),
  gateway: () => ({ gateway: { name: variable('GATEWAY_NAME'), namespace: variable('GATEWAY_NAMESPACE') } }),
};
