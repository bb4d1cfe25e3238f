import { Construct } from 'constructs';
import type { InClusterAccess as InClusterAccessValue } from '../../api/in-cluster-access-spec.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { rendersWith } from '../../cluster/release-revisions.ts';
import { exposureStrategy } from '../../control-plane/exposure/exposure.ts';
import type { Endpoint, Facts } from '../../cluster/facts.ts';
import {
  inClusterAccessOf,
  missingTunnel,
  unsupportedInClusterAccess,
  usesTunnel,
} from '../../cluster/in-cluster-access.ts';
import type { ProxyTarget } from './forwarding.ts';
import { KubernetesEndpoints } from './kubernetes-endpoints.ts';
import { KubernetesService } from './kubernetes-service.ts';
import { Policy } from './policy.ts';
import { Proxy, type ProxyProps } from './proxy.ts';
import { ServiceProxy } from './service-proxy.ts';

export interface InClusterAccessProps {
  readonly cluster: HostedCluster;
  readonly facts: Facts;
  readonly endpoint: Endpoint;
}

/**
 * The objects with which pods of the hosted cluster reach their API server. With LoadBalancer, API servers of the first release
 * revision write the endpoints of the Service themselves.
 */
export class InClusterAccess extends Construct {
  constructor(scope: Construct, id: string, { cluster, facts, endpoint }: InClusterAccessProps) {
    super(scope, id);
    const access = accessOf(cluster, facts);
    if (access === 'Policy') new Policy(this, 'policy', { endpoint, version: cluster.spec.version });
    if (access === 'Proxy') {
      new Proxy(this, 'proxy', { ...common(cluster), target: proxyTarget(cluster, facts, endpoint) });
    }
    const { advertiseAddress } = facts;
    if (access === 'LoadBalancer' && advertiseAddress && rendersWith(cluster, 'writesKubernetesEndpoints')) {
      const { port } = common(cluster);
      new KubernetesEndpoints(this, 'kubernetes-endpoints', { address: advertiseAddress, port });
    }
    new KubernetesService(this, 'kubernetes-service', {
      reaches: access === 'Proxy' ? 'node' : hasServiceProxy(cluster, facts) ? 'pods' : undefined,
    });
  }
}

/**
 * The objects with which the Service `kubernetes` leads to the API server although pods connect to the endpoint. None
 * where the endpoint needs a name that such connections do not carry, and no tunnel carries it.
 */
export class ServiceAccess extends Construct {
  constructor(scope: Construct, id: string, { cluster, facts, endpoint }: InClusterAccessProps) {
    super(scope, id);
    if (!hasServiceProxy(cluster, facts)) return;
    const target = proxyTarget(cluster, facts, endpoint);
    new ServiceProxy(this, 'proxy', { ...common(cluster), target, nodes: facts.nodes });
  }
}

/** How pods connect; undefined where they cannot as the spec asks. */
function accessOf(cluster: HostedCluster, facts: Facts): InClusterAccessValue | undefined {
  return unsupportedInClusterAccess(cluster, facts) ? undefined : inClusterAccessOf(cluster, facts);
}

function hasServiceProxy(cluster: HostedCluster, facts: Facts): boolean {
  return accessOf(cluster, facts) === 'Policy' && missingTunnel(cluster.spec) === undefined;
}

function common({ spec, network }: HostedCluster): Omit<ProxyProps, 'target'> {
  return {
    spec,
    port: exposureStrategy(spec).securePort,
    ipFamily: network.services[0]?.includes(':') ? 'ipv6' : 'ipv4',
  };
}

function proxyTarget(cluster: HostedCluster, { tunnelEndpoint }: Facts, endpoint: Endpoint): ProxyTarget {
  if (!usesTunnel(cluster.spec)) return { endpoint, isTunnel: false };
  if (!tunnelEndpoint) throw new Error(`the tunnel endpoint of cluster ${cluster.name} is not known yet`);
  return { endpoint: tunnelEndpoint, isTunnel: true };
}
