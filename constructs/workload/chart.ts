import { App, Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { fieldManager } from '../api/group.ts';
import type { RenderedObject } from '../control-plane/chart.ts';
import type { HostedCluster } from '../control-plane/cluster.ts';
import type { Facts } from '../control-plane/facts.ts';
import { managedByLabel } from '../control-plane/labels.ts';
import { ClusterInfo } from './cluster-info.ts';
import { InClusterAccess } from './in-cluster-access/in-cluster-access.ts';
import { KubeadmConfig } from './kubeadm-config.ts';
import { KubeletConfig } from './kubelet-config.ts';
import { Rbac } from './rbac.ts';

/** What is applied in the hosted cluster by one phase. */
export type WorkloadPart =
  | 'rbac'
  | 'cluster-info'
  | 'kubeadm-config'
  | 'kubelet-config'
  | 'kube-proxy'
  | 'coredns'
  | 'konnectivity-agent'
  | 'in-cluster-access';

export interface WorkloadChartProps {
  readonly cluster: HostedCluster;
  readonly facts: Facts;
  /** Only this part. @default everything */
  readonly only?: WorkloadPart | undefined;
}

/** What a hosted control plane puts into its own cluster: rights, what `kubeadm join` reads, and add-ons. */
export class WorkloadChart extends Chart {
  constructor(scope: Construct, id: string, { cluster, facts, only }: WorkloadChartProps) {
    // The label is what watches of the hosted cluster select by.
    super(scope, id, { disableResourceNameHashes: true, labels: { [managedByLabel]: fieldManager } });
    const wants = (part: WorkloadPart) => only === undefined || only === part;
    const { endpoint, clusterAuthority } = facts;
    if (wants('rbac')) new Rbac(this, 'rbac', { cluster });
    if (wants('cluster-info') && endpoint && clusterAuthority) {
      new ClusterInfo(this, 'cluster-info', { endpoint, authority: clusterAuthority });
    }
    if (wants('kubeadm-config') && endpoint) new KubeadmConfig(this, 'kubeadm-config', { cluster, endpoint });
    if (wants('in-cluster-access') && endpoint) {
      new InClusterAccess(this, 'in-cluster-access', { cluster, facts, endpoint });
    }
    if (wants('kubelet-config')) new KubeletConfig(this, 'kubelet-config', { network: cluster.network });
  }
}

/** Renders the chart, or one part of it. The same cluster and facts give the same objects, byte for byte. */
export function renderWorkload(cluster: HostedCluster, facts: Facts, only?: WorkloadPart): RenderedObject[] {
  return new WorkloadChart(new App(), 'workload', { cluster, facts, only }).toJson() as RenderedObject[];
}
