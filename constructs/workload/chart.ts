import { App, Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import type { RenderedObject } from '../control-plane/chart.ts';
import type { HostedCluster } from '../control-plane/cluster.ts';
import type { Facts } from '../control-plane/facts.ts';
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
  constructor(scope: Construct, id: string, { only }: WorkloadChartProps) {
    super(scope, id, { disableResourceNameHashes: true });
    const wants = (part: WorkloadPart) => only === undefined || only === part;
    if (wants('rbac')) new Rbac(this, 'rbac');
  }
}

/** Renders the chart, or one part of it. The same cluster and facts give the same objects, byte for byte. */
export function renderWorkload(cluster: HostedCluster, facts: Facts, only?: WorkloadPart): RenderedObject[] {
  return new WorkloadChart(new App(), 'workload', { cluster, facts, only }).toJson() as RenderedObject[];
}
