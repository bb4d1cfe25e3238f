import { Construct } from 'constructs';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { exposureStrategy } from '../../control-plane/exposure/exposure.ts';
import type { Endpoint, Facts } from '../../cluster/facts.ts';
import { inClusterAccessOf, unsupportedInClusterAccess, usesTunnel } from '../../cluster/in-cluster-access.ts';
import { KubernetesService } from './kubernetes-service.ts';
import { Policy } from './policy.ts';
import { Proxy, type ProxyTarget } from './proxy.ts';

export interface InClusterAccessProps {
  readonly cluster: HostedCluster;
  readonly facts: Facts;
  readonly endpoint: Endpoint;
}

/**
 * The objects with which pods of the hosted cluster reach their API server. LoadBalancer needs none besides the
 * Service.
 */
export class InClusterAccess extends Construct {
  constructor(scope: Construct, id: string, { cluster, facts, endpoint }: InClusterAccessProps) {
    super(scope, id);
    const access = unsupportedInClusterAccess(cluster, facts) ? undefined : inClusterAccessOf(cluster, facts);
    if (access === 'Policy') new Policy(this, 'policy', { endpoint, version: cluster.spec.version });
    if (access === 'Proxy') {
      new Proxy(this, 'proxy', {
        target: proxyTarget(cluster, facts, endpoint),
        spec: cluster.spec,
        port: exposureStrategy(cluster.spec).securePort,
        ipFamily: cluster.network.services[0]?.includes(':') ? 'ipv6' : 'ipv4',
      });
    }
    new KubernetesService(this, 'kubernetes-service', { reachesProxy: access === 'Proxy' });
  }
}

function proxyTarget(cluster: HostedCluster, { tunnelEndpoint }: Facts, endpoint: Endpoint): ProxyTarget {
  if (!usesTunnel(cluster.spec)) return { endpoint, isTunnel: false };
  if (!tunnelEndpoint) throw new Error(`the tunnel endpoint of cluster ${cluster.name} is not known yet`);
  return { endpoint: tunnelEndpoint, isTunnel: true };
}
