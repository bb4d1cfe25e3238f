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
import { KubernetesService, kubernetesService } from './kubernetes-service.ts';
import { Policy } from './policy.ts';
import { Proxy, type ProxyProps } from './proxy.ts';
import { ServiceProxy } from './service-proxy.ts';
import { isIPv6 } from 'node:net';
import { ApiObject } from 'cdk8s';
import { apiServerSlice } from '../../api/resources.ts';

interface InClusterAccessProps {
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
      new KubernetesEndpoints(this, 'kubernetes-endpoints', { host: advertiseAddress, port });
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

/**
 * Where the Service `kubernetes` leads: one address for all API servers. API servers could write it themselves, but each that
 * stops would take the address of all out of it, for up to ten seconds. Endpoints repeat the EndpointSlice, as those of API
 * servers do: Kubernetes' conformance tests and some programs still read them.
 */
class KubernetesEndpoints extends Construct {
  constructor(scope: Construct, id: string, { host: address, port }: Endpoint) {
    super(scope, id);
    const { name, namespace } = kubernetesService;
    const ports = [{ name: 'https', port, protocol: 'TCP' }];
    new ApiObject(this, 'endpoints', {
      apiVersion: 'v1',
      kind: 'Endpoints',
      // Otherwise a controller would write a slice of its own for these Endpoints.
      metadata: { name, namespace, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
      subsets: [{ addresses: [{ ip: address }], ports }],
    });
    new ApiObject(this, 'slice', {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: apiServerSlice, namespace, labels: { 'kubernetes.io/service-name': name } },
      addressType: isIPv6(address) ? 'IPv6' : 'IPv4',
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
      ports,
    });
  }
}
