import { exposureOf } from '../api/exposure-spec.ts';
import type { InClusterAccess } from '../api/in-cluster-access-spec.ts';
import type { HostedCluster } from './cluster.ts';
import type { Facts } from './facts.ts';
import { firstMinorWith } from './minors.ts';
import { hasChange } from './versions.ts';

type Spec = Pick<HostedCluster['spec'], 'inClusterAccess' | 'version' | 'gateway' | 'exposure'>;

/** How pods of the hosted cluster reach their API server: as the spec says, else what suits exposure and version. */
export function inClusterAccessOf(
  { spec }: { readonly spec: Spec },
  { advertiseAddress }: Pick<Facts, 'advertiseAddress'>,
): InClusterAccess {
  if (spec.inClusterAccess) return spec.inClusterAccess;
  return advertiseAddress ? 'LoadBalancer' : withoutAddress(spec);
}

/**
 * Whether proxies of the workers reach the API server through a tunnel: behind a host name that many clusters share, an
 * outer TLS session is what carries this cluster's name. Everywhere else they dial the endpoint as it is.
 */
export function usesTunnel(spec: Spec): boolean {
  const { kind } = exposureOf(spec);
  if (kind !== 'gateway' && kind !== 'ingress') return false;
  // The only address such an exposure ever advertises is that of a load balancer asked for in so many words.
  return (spec.inClusterAccess ?? withoutAddress(spec)) === 'Proxy';
}

/**
 * The spec of a control plane whose pods reach the API server this way already. Where nothing is said and there are
 * proxies they stay: an upgrade would make a policy the default, and every running pod knows no other way than its proxy.
 */
export function keepingProxies<S extends Spec>(spec: S, inUse: InClusterAccess | undefined): S {
  return spec.inClusterAccess === undefined && inUse === 'Proxy' ? { ...spec, inClusterAccess: inUse } : spec;
}

/** Why pods cannot reach the API server the way the spec asks for, and what to do; undefined when they can. */
export function unsupportedInClusterAccess(
  { spec }: { readonly spec: Spec },
  { advertiseAddress }: Pick<Facts, 'advertiseAddress'>,
): string | undefined {
  if (spec.inClusterAccess === 'Policy' && !hasChange(spec.version, 'servesMutatingPolicies')) {
    return `inClusterAccess Policy needs Kubernetes 1.${firstMinorWith('servesMutatingPolicies')} or newer, this is ${spec.version}: use Proxy, or leave it out`;
  }
  if (spec.inClusterAccess === 'LoadBalancer' && !advertiseAddress) {
    return 'inClusterAccess LoadBalancer needs a load balancer with an IP address, this one has only a host name: use Policy or Proxy, or leave it out';
  }
  return undefined;
}

/** Version of admissionregistration.k8s.io in which this minor serves mutating admission policies. */
export function policyApiVersion(version: string): 'v1' | 'v1beta1' {
  return hasChange(version, 'servesMutatingPoliciesByDefault') ? 'v1' : 'v1beta1';
}

function withoutAddress({ version }: Spec): InClusterAccess {
  return hasChange(version, 'servesMutatingPolicies') ? 'Policy' : 'Proxy';
}
