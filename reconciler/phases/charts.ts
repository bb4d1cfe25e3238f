import type { HostedCluster } from '../../constructs/cluster/cluster.ts';
import type { Facts } from '../../constructs/cluster/facts.ts';
import { type Part, type RenderedObject, renderControlPlane } from '../../constructs/control-plane/chart.ts';
import { renderWorkload, type WorkloadPart } from '../../constructs/workload/chart.ts';
import { type Rendering, rendering } from '../kube/rendering.ts';

/** The chart of a control plane in the management cluster, or a part of it. */
export function controlPlaneChart(cluster: HostedCluster, facts: Facts, only?: Part): Rendering<RenderedObject> {
  return rendering(only ?? 'all', [cluster, facts], () => renderControlPlane(cluster, facts, only));
}

/** The chart of what a hosted cluster contains, or a part of it. */
export function workloadChart(cluster: HostedCluster, facts: Facts, only?: WorkloadPart): Rendering<RenderedObject> {
  return rendering(only ?? 'all', [cluster, facts], () => renderWorkload(cluster, facts, only));
}
