import { z } from 'zod';
import type { HostedControlPlaneSpec } from '../api/hosted-control-plane.ts';
import { addressAt } from './cidr.ts';

/** What is rendered: one Cluster and the HostedControlPlane that is its control plane. Plain data, no key material. */
export interface HostedCluster {
  /** Name of the Cluster; every object name derives from it. */
  readonly name: string;
  readonly namespace: string;
  readonly network: ClusterNetwork;
  readonly spec: HostedControlPlaneSpec;
}

export interface ClusterNetwork {
  /** DNS domain of the hosted cluster. */
  readonly serviceDomain: string;
  /** One network, or one per IP family; the first one decides the `kubernetes` Service's address. */
  readonly services: readonly string[];
  readonly pods: readonly string[];
}

const Networks = z.looseObject({ cidrBlocks: z.array(z.string()).optional() });

/** `Cluster.spec.clusterNetwork` as far as it is read here. */
export const ClusterNetworkSpec = z.looseObject({
  serviceDomain: z.string().optional(),
  services: Networks.optional(),
  pods: Networks.optional(),
});
export type ClusterNetworkSpec = z.output<typeof ClusterNetworkSpec>;

/** The Cluster's network with the reference provider's defaults for what it leaves open. */
export function networkOf(spec: ClusterNetworkSpec | undefined): ClusterNetwork {
  const blocks = (given: readonly string[] | undefined, fallback: string) => (given?.length ? given : [fallback]);
  return {
    serviceDomain: spec?.serviceDomain || 'cluster.local',
    services: blocks(spec?.services?.cidrBlocks, '10.96.0.0/12'),
    pods: blocks(spec?.pods?.cidrBlocks, '10.0.0.0/16'),
  };
}

/** The addresses of the hosted cluster's `kubernetes` Service: the first one of each service network. */
export function kubernetesServiceAddresses(network: ClusterNetwork): string[] {
  return network.services.map((cidr) => addressAt(cidr, 1));
}

/** The address of the hosted cluster's DNS, where kubeadm puts it: the tenth of the first service network. */
export function dnsServiceAddress({ services: [first = ''] }: ClusterNetwork): string {
  return addressAt(first, 10);
}
