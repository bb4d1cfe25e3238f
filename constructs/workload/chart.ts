import { App, Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { fieldManager } from '../api/group.ts';
import { HostedControlPlaneSpec } from '../api/hosted-control-plane.ts';
import { InClusterAccess as InClusterAccessSpec } from '../api/in-cluster-access-spec.ts';
import type { RenderedObject } from '../control-plane/chart.ts';
import { type HostedCluster, networkOf } from '../cluster/cluster.ts';
import type { Facts } from '../cluster/facts.ts';
import { managedByLabel } from '../cluster/labels.ts';
import { caAtStart } from './add-on.ts';
import { type AppliedKind, appliedKinds } from './applied-kinds.ts';
import { ClusterInfo, KubeadmConfig, KubeletConfig } from './join-configuration.ts';
import { CoreDNS } from './coredns.ts';
import { InClusterAccess, ServiceAccess } from './in-cluster-access/in-cluster-access.ts';
import { KonnectivityAgent } from './konnectivity-agent.ts';
import { KubeProxy } from './kube-proxy.ts';
import { Rbac } from './rbac.ts';

/** The parts that phases apply in the hosted cluster, except permissions. */
const unprivilegedParts = [
  'cluster-info',
  'kubeadm-config',
  'kubelet-config',
  'kube-proxy',
  'coredns',
  'konnectivity-agent',
  'in-cluster-access',
  'service-access',
] as const;
export type WorkloadPart = 'rbac' | (typeof unprivilegedParts)[number];

export interface WorkloadChartProps {
  readonly cluster: HostedCluster;
  readonly facts: Facts;
  /** Render only this part. @default everything */
  readonly only?: WorkloadPart | undefined;
}

/** All objects that the operator applies in a hosted cluster: permissions, the input of `kubeadm join`, and add-ons. */
export class WorkloadChart extends Chart {
  constructor(scope: Construct, id: string, { cluster, facts, only }: WorkloadChartProps) {
    // Watches of the hosted cluster select by this label.
    super(scope, id, { disableResourceNameHashes: true, labels: { [managedByLabel]: fieldManager } });
    const wants = (part: WorkloadPart) => only === undefined || only === part;
    const { endpoint, konnectivityEndpoint, clusterCA, nodes } = facts;
    if (wants('rbac')) new Rbac(this, 'rbac', { cluster, applied: appliedKindsOf(cluster.spec.version) });
    if (wants('cluster-info') && endpoint && clusterCA) {
      new ClusterInfo(this, 'cluster-info', { endpoint, ca: clusterCA });
    }
    if (wants('kubeadm-config') && endpoint) new KubeadmConfig(this, 'kubeadm-config', { cluster, endpoint });
    if (wants('kubelet-config')) new KubeletConfig(this, 'kubelet-config', { network: cluster.network });
    if (wants('kube-proxy') && endpoint && !cluster.spec.kubeProxy.disabled) {
      const startsWith = caAtStart('kube-proxy', cluster, facts);
      new KubeProxy(this, 'kube-proxy', { cluster, endpoint, startsWith });
    }
    if (wants('coredns') && endpoint && !cluster.spec.coredns.disabled) {
      const startsWith = caAtStart('coredns', cluster, facts);
      new CoreDNS(this, 'coredns', { cluster, endpoint, nodes, startsWith });
    }
    const wantsAgent = wants('konnectivity-agent') && !cluster.spec.konnectivityClient.disabled;
    if (wantsAgent && endpoint && konnectivityEndpoint) {
      const startsWith = caAtStart('konnectivity-agent', cluster, facts);
      new KonnectivityAgent(this, 'konnectivity-agent', { cluster, endpoint, konnectivityEndpoint, nodes, startsWith });
    }
    if (wants('in-cluster-access') && endpoint) {
      new InClusterAccess(this, 'in-cluster-access', { cluster, facts, endpoint });
    }
    if (wants('service-access') && endpoint) new ServiceAccess(this, 'service-access', { cluster, facts, endpoint });
  }
}

/**
 * Renders the chart, or one part of it. The output is deterministic: the same cluster and facts give the same bytes.
 */
export function renderWorkload(cluster: HostedCluster, facts: Facts, only?: WorkloadPart): RenderedObject[] {
  return new WorkloadChart(new App(), 'workload', { cluster, facts, only }).toJson() as RenderedObject[];
}

/**
 * All kinds that the operator may apply in a hosted cluster of this version, for any settings, except permissions. The
 * operator's client has permissions for them and watches them. The result is cached by version, because every reconcile
 * needs it.
 */
export function appliedKindsOf(version: string): readonly AppliedKind[] {
  const known = kindsByVersion.get(version);
  if (known) return known;
  const objects = InClusterAccessSpec.options.flatMap((inClusterAccess) => {
    const spec = HostedControlPlaneSpec.parse({ version, exposure: { loadBalancer: {} }, inClusterAccess });
    const cluster = { name: 'any', namespace: 'any', network: networkOf(undefined), spec };
    return unprivilegedParts.flatMap((part) => renderWorkload(cluster, anyFacts, part));
  });
  const kinds = appliedKinds(objects);
  kindsByVersion.set(version, kinds);
  return kinds;
}

const kindsByVersion = new Map<string, readonly AppliedKind[]>();
const anyEndpoint = { host: '192.0.2.1', port: 6443 };
const anyFacts: Facts = {
  endpoint: anyEndpoint,
  konnectivityEndpoint: anyEndpoint,
  tunnelEndpoint: anyEndpoint,
  advertiseAddress: anyEndpoint.host,
  clusterCA: 'any',
  // With a single node nothing is there to limit disruptions of.
  nodes: 2,
  certificates: {},
  mounts: {},
};
