import type { EndpointSliceObject, NodeObject, ServiceCIDRObject } from '../../../imports/kubernetes.ts';
import { isIP } from 'node:net';
import { definedOnly } from '../../../constructs/cluster/defined-only.ts';
import { coverWithin, fewestNetworks, isNetwork, networkOfAddress } from '../../../constructs/cluster/cidr.ts';
import type { KubeObject } from '../../kube/object.ts';

export interface ServerAddress {
  readonly address: string;
  readonly port?: number | undefined;
}

/** What is kept of a Node, of which a large cluster has thousands. */
export function keptOfNode({ apiVersion, kind, metadata, spec, status }: NodeObject): NodeObject {
  const { name, uid, resourceVersion } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { name, ...definedOnly({ uid, resourceVersion }) },
    spec: definedOnly({ podCIDR: spec?.podCIDR, podCIDRs: spec?.podCIDRs }),
    status: definedOnly({ addresses: status?.addresses }),
  };
}

/** Pods of neighbouring nodes are in one network, of which each node has a part. */
const podNetworks = { ipv4: 16, ipv6: 48 };

/** The networks of pods, as far as Nodes have them: network plugins with an allocation of their own do not say it there. */
export function podNetworksOf(nodes: readonly NodeObject[]): string[] {
  const parts = nodes.flatMap(({ spec }) => spec?.podCIDRs ?? (spec?.podCIDR ? [spec.podCIDR] : [])).filter(isNetwork);
  return fewestNetworks(coverWithin(parts, podNetworks));
}

/** More networks make policies large. */
const mostNetworks = 256;
const coarser = [
  { ipv4: 28, ipv6: 112 },
  { ipv4: 24, ipv6: 96 },
  { ipv4: 20, ipv6: 80 },
  { ipv4: 16, ipv6: 64 },
];

/** Networks with all addresses of nodes: exactly these while they are few, and what lies between them, too, when they are many. */
export function nodeNetworksOf(nodes: readonly NodeObject[]): string[] {
  const addresses = nodes
    .flatMap(({ status }) => status?.addresses ?? [])
    .flatMap(({ type, address = '' }) =>
      type?.endsWith('IP') && isIP(address) !== 0 ? [networkOfAddress(address)] : [],
    );
  const exact = fewestNetworks(addresses);
  if (exact.length <= mostNetworks) return exact;
  const covers = coarser.map((prefixes) => fewestNetworks(coverWithin(addresses, prefixes)));
  return covers.find(({ length }) => length <= mostNetworks) ?? covers.at(-1) ?? exact;
}

/** The networks of Services. */
export function serviceNetworksOf(cidrs: readonly ServiceCIDRObject[]): string[] {
  return fewestNetworks(cidrs.flatMap(({ spec }) => spec?.cidrs ?? []).filter(isNetwork));
}

export function apiServersIn({ endpoints = [], ports = [] }: EndpointSliceObject): ServerAddress[] {
  const addresses = endpoints.flatMap((endpoint) => endpoint.addresses ?? []);
  return addresses.flatMap((address) => (ports.length === 0 ? [{}] : ports).map((port) => ({ ...port, address })));
}

/** The addresses of the API servers. */
export function apiServerNetworksOf(slices: readonly EndpointSliceObject[]): string[] {
  const addresses = slices.flatMap(({ endpoints = [] }) => endpoints.flatMap(({ addresses: own = [] }) => own));
  return fewestNetworks(addresses.filter((address) => isIP(address) !== 0).map(networkOfAddress));
}

/** Single addresses that a policy denies: those of servers, which may have left while no operator saw it. */
export function deniedAddressesIn(policy: KubeObject): string[] {
  const found: string[] = [];
  const search = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('except' in value && Array.isArray(value.except)) {
      found.push(...value.except.filter((one): one is string => typeof one === 'string' && isSingle(one)));
    }
    Object.values(value).forEach(search);
  };
  search('spec' in policy ? policy.spec : undefined);
  return found;
}

function isSingle(network: string): boolean {
  return isNetwork(network) && network.endsWith(network.includes(':') ? '/128' : '/32');
}
