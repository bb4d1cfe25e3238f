import type { HostedCluster } from '../../cluster/cluster.ts';
import { ports } from '../../cluster/ports.ts';
import { auditTargets, usesFanOut } from '../api-server/audit/targets.ts';
import type { FlowPort, Peer, PodComponent } from './flow.ts';

/** Who reads the metrics of which component. */
export interface ScraperFlow {
  readonly from: Peer;
  readonly component: PodComponent;
  readonly ports: readonly FlowPort[];
}

/**
 * The connections of those who read metrics, as the owner of the control plane lists them. The metrics of the API server itself are at the
 * port to which everyone may connect.
 */
export function scraperFlows(cluster: Pick<HostedCluster, 'namespace' | 'spec'>): readonly ScraperFlow[] {
  const served: readonly (readonly [PodComponent, number])[] = [
    ['etcd', ports.etcdMetrics],
    ['controller-manager', ports.controllerManager],
    ['scheduler', ports.scheduler],
    ...(usesFanOut(auditTargets(cluster)) ? [['api-server', ports.auditHealth] as const] : []),
  ];
  return (cluster.spec.metricsScrapers ?? []).flatMap(({ namespace, podLabels }) =>
    served.map(([component, number]) => ({
      from: { kind: 'pods', namespace, labels: podLabels } as const,
      component,
      ports: [{ number, protocol: 'TCP' }] as const,
    })),
  );
}
