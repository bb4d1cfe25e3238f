import type { HostedControlPlaneSpec } from '../api/hosted-control-plane.ts';
import { addressAt } from './cidr.ts';
import type { Release } from './release-revisions.ts';

/** The input of a render: one Cluster and its HostedControlPlane. Plain data without key material. */
export interface HostedCluster {
  /** Name of the Cluster, from which every object name derives. */
  readonly name: string;
  readonly namespace: string;
  readonly network: ClusterNetwork;
  readonly spec: HostedControlPlaneSpec;
  /** What the operator has recorded to render it by; the newest release when missing. */
  readonly release?: Release | undefined;
  /**
   * Version of the API servers' and controllers' binaries while these emulate the minor of `spec.version`, which is the minor
   * before theirs; that of the spec when missing.
   */
  readonly binaries?: string | undefined;
  /** What of the user's spec is not in `spec`, because the platform does not allow it. */
  readonly refusals?: readonly FieldRefusal[] | undefined;
}

/** A field of the spec that does not have, or not as a whole, what the user asks for. */
export interface FieldRefusal {
  /** Path in the spec. */
  readonly field: string;
  /** Why, and what to do, as a sentence. */
  readonly because: string;
}

export interface ClusterNetwork {
  /** DNS domain of the hosted cluster. */
  readonly serviceDomain: string;
  /** One network, or one per IP family. The first one sets the address of the `kubernetes` Service. */
  readonly services: readonly string[];
  readonly pods: readonly string[];
}

/** The fields of `Cluster.spec.clusterNetwork` that the operator reads. */
export interface ClusterNetworkSpec {
  readonly serviceDomain?: string | undefined;
  readonly services?: { readonly cidrBlocks?: readonly string[] | undefined } | undefined;
  readonly pods?: { readonly cidrBlocks?: readonly string[] | undefined } | undefined;
}

/** The network of the Cluster. Unset fields have the defaults of the reference provider. */
export function networkOf(spec: ClusterNetworkSpec | undefined): ClusterNetwork {
  const blocks = (given: readonly string[] | undefined, fallback: string) => (given?.length ? given : [fallback]);
  return {
    serviceDomain: spec?.serviceDomain || 'cluster.local',
    services: blocks(spec?.services?.cidrBlocks, '10.96.0.0/12'),
    pods: blocks(spec?.pods?.cidrBlocks, '10.0.0.0/16'),
  };
}

/** The addresses of the hosted cluster's `kubernetes` Service: the first address of each service network. */
export function kubernetesServiceAddresses(network: ClusterNetwork): string[] {
  return network.services.map((cidr) => addressAt(cidr, 1));
}

/** The address of the hosted cluster's DNS Service, as in kubeadm: the tenth address of the first service network. */
export function dnsServiceAddress({ services: [first = ''] }: ClusterNetwork): string {
  return addressAt(first, 10);
}
