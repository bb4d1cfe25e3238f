import { Construct } from 'constructs';
import type { InClusterAccess as InClusterAccessValue } from '../../api/in-cluster-access-spec.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { exposureStrategy } from '../../control-plane/exposure/exposure.ts';
import type { Endpoint, Facts } from '../../cluster/facts.ts';
import {
  inClusterAccessOf,
  servesKubernetesService,
  unsupportedInClusterAccess,
  usesTunnel,
} from '../../cluster/in-cluster-access.ts';
import type { ProxyTarget } from './forwarding.ts';
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
 * The objects with which pods of the hosted cluster reach their API server. LoadBalancer needs none besides the
 * Service.
 */
export class InClusterAccess extends Construct {
  constructor(scope: Construct, id: string, { cluster, facts, endpoint }: InClusterAccessProps) {
    super(scope, id);
    const access = accessOf(cluster, facts);
    if (access === 'Policy') new Policy(this, 'policy', { endpoint, version: cluster.spec.version });
    if (access === 'Proxy') {
      new Proxy(this, 'proxy', { ...common(cluster), target: proxyTarget(cluster, facts, endpoint) });
    }
    new KubernetesService(this, 'kubernetes-service', {
      reaches: access === 'Proxy' ? 'node' : serviceProxyTarget(cluster, facts, endpoint) && 'pods',
    });
  }
}

/**
 * The objects with which the Service `kubernetes` leads to the API server although pods connect to the endpoint. None
 * where the endpoint needs a name that such connections do not carry.
 */
export class ServiceAccess extends Construct {
  constructor(scope: Construct, id: string, { cluster, facts, endpoint }: InClusterAccessProps) {
    super(scope, id);
    const target = serviceProxyTarget(cluster, facts, endpoint);
    if (target) new ServiceProxy(this, 'proxy', { ...common(cluster), target, nodes: facts.nodes });
  }
}

/** How pods connect; undefined where they cannot as the spec asks. */
function accessOf(cluster: HostedCluster, facts: Facts): InClusterAccessValue | undefined {
  return unsupportedInClusterAccess(cluster, facts) ? undefined : inClusterAccessOf(cluster, facts);
}

function serviceProxyTarget(cluster: HostedCluster, facts: Facts, endpoint: Endpoint): ProxyTarget | undefined {
  const isServed = accessOf(cluster, facts) === 'Policy' && servesKubernetesService(cluster, facts);
  return isServed ? { endpoint, isTunnel: false } : undefined;
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
