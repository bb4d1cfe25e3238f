import { isIPv6 } from 'node:net';
import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { apiServerSlice } from '../../api/resources.ts';
import { kubernetesService } from './kubernetes-service.ts';

export interface KubernetesEndpointsProps {
  /** The address at which all API servers of the cluster are reached. */
  readonly address: string;
  /** Port at that address. */
  readonly port: number;
}

/**
 * Where the Service `kubernetes` leads: one address for all API servers. API servers could write it themselves, but each that
 * stops would take the address of all out of it, for up to ten seconds. Endpoints repeat the EndpointSlice, as those of API
 * servers do: Kubernetes' conformance tests and some programs still read them.
 */
export class KubernetesEndpoints extends Construct {
  constructor(scope: Construct, id: string, { address, port }: KubernetesEndpointsProps) {
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
