import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { networkZones } from '../../../constructs/stacks/hetzner/values.ts';

/** The fields of a HetznerCluster that the webhook of Cluster API Provider Hetzner (CAPH) reads at its creation. */
interface HetznerClusterObject extends KubeObject {
  readonly spec?: {
    readonly controlPlaneRegions?: readonly string[];
    readonly controlPlaneEndpoint?: { readonly host?: string; readonly port?: number };
    readonly controlPlaneLoadBalancer?: { readonly enabled?: boolean; readonly region?: string };
    readonly hcloudNetwork?: { readonly enabled?: boolean; readonly networkZone?: string };
  };
}

const zones: Readonly<Record<string, string>> = networkZones;

/** What CAPH's webhook refuses of a new HetznerCluster. */
export function refusedByCaph({ metadata, spec = {} }: HetznerClusterObject): string[] {
  const { controlPlaneRegions = [], controlPlaneEndpoint: endpoint, controlPlaneLoadBalancer, hcloudNetwork } = spec;
  const zonesOfRegions = new Set(controlPlaneRegions.map((region) => zones[region] ?? 'unknown'));
  const mayBeEmpty = metadata.annotations?.['capi.syself.com/allow-empty-control-plane-address'] === 'true';
  const hasLoadBalancer = controlPlaneLoadBalancer?.enabled !== false;
  return [
    ...(controlPlaneRegions.length === 0 ? ['no region'] : []),
    ...(zonesOfRegions.has('unknown') ? ['an unknown region'] : []),
    ...(zonesOfRegions.size > 1 ? ['regions of several network zones'] : []),
    ...(hcloudNetwork?.enabled && !zonesOfRegions.has(hcloudNetwork.networkZone ?? 'eu-central')
      ? ['a network zone other than that of the regions']
      : []),
    ...(hasLoadBalancer && controlPlaneLoadBalancer?.region === undefined ? ['a load balancer without a region'] : []),
    ...(!hasLoadBalancer && !mayBeEmpty && !(endpoint?.host && endpoint.port) ? ['no endpoint'] : []),
  ];
}
