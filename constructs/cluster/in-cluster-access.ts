import { exposureOf, isShared } from '../api/exposure-spec.ts';
import type { InClusterAccess } from '../api/in-cluster-access-spec.ts';
import type { HostedCluster } from './cluster.ts';
import type { Facts } from './facts.ts';
import { firstMinorWith } from './minors.ts';
import { hasChange } from './versions.ts';

type Spec = Pick<HostedCluster['spec'], 'inClusterAccess' | 'version' | 'gateway' | 'exposure' | 'certificates'>;

/**
 * How pods of the hosted cluster reach their API server: as set in the spec, otherwise by exposure strategy and
 * version.
 */
export function inClusterAccessOf(
  { spec }: { readonly spec: Spec },
  { advertiseAddress }: Pick<Facts, 'advertiseAddress'>,
): InClusterAccess {
  if (spec.inClusterAccess) return spec.inClusterAccess;
  return advertiseAddress ? 'LoadBalancer' : withoutAddress(spec);
}

/**
 * Whether proxies of the workers reach the API server through a tunnel. Behind a host name that many clusters share, an
 * outer TLS session carries the name of this cluster. Otherwise they connect to the endpoint directly.
 */
export function usesTunnel(spec: Spec): boolean {
  return needsTunnel(spec) || (wantsTunnel(spec) && missingForTunnel(spec) === undefined);
}

/** Whether pods reach the API server only through the tunnel. */
export function needsTunnel(spec: Spec): boolean {
  return isShared(exposureOf(spec)) && accessBehindEntry(spec) === 'Proxy';
}

/**
 * Why no tunnel leads the Service `kubernetes` to the API server although pods connect to the endpoint, and what to do;
 * undefined when one does, or none is necessary.
 */
export function missingTunnel(spec: Spec): string | undefined {
  return wantsTunnel(spec) ? missingForTunnel(spec) : undefined;
}

/** Whether only a tunnel can carry the connections of the Service `kubernetes`, and pods do not need it. */
function wantsTunnel(spec: Spec): boolean {
  return isShared(exposureOf(spec)) && accessBehindEntry(spec) === 'Policy';
}

function missingForTunnel(spec: Spec): string | undefined {
  // Pods that need no tunnel must not lose the issuer to it.
  if (spec.certificates?.issuerRef)
    return 'its proxies are HAProxy, which does not trust a CA that another CA has signed: remove certificates.issuerRef if a program needs the name kubernetes.default.svc';
  const exposure = exposureOf(spec);
  if (exposure.kind !== 'ingress' || exposure.ingress.tunnelHost !== undefined) return undefined;
  return 'the ingress controller routes by host name, which clients of that Service do not send, and exposure.ingress.tunnelHost is not set: set it to a host name that DNS resolves to the ingress controller if a program needs the name kubernetes.default.svc';
}

/** Such an exposure strategy advertises an address only if the spec requests a load balancer. */
function accessBehindEntry(spec: Spec): InClusterAccess {
  return spec.inClusterAccess ?? withoutAddress(spec);
}

/**
 * The spec of a control plane whose pods already reach the API server this way. When the spec sets nothing and there
 * are proxies, they stay: an upgrade would make Policy the default, and running pods reach the API server only through
 * their proxy.
 */
export function keepingProxies<S extends Spec>(spec: S, inUse: InClusterAccess | undefined): S {
  return spec.inClusterAccess === undefined && inUse === 'Proxy' ? { ...spec, inClusterAccess: inUse } : spec;
}

/** The reason why pods cannot reach the API server as the spec asks, and what to do; undefined when they can. */
export function unsupportedInClusterAccess(
  { spec }: { readonly spec: Spec },
  { advertiseAddress }: Pick<Facts, 'advertiseAddress'>,
): string | undefined {
  if (spec.inClusterAccess === 'Policy' && !hasChange(spec.version, 'servesMutatingPolicies')) {
    return `inClusterAccess Policy needs Kubernetes 1.${firstMinorWith('servesMutatingPolicies')} or newer, but spec.version is ${spec.version}: set inClusterAccess to Proxy, or remove it`;
  }
  if (spec.inClusterAccess === 'LoadBalancer' && !advertiseAddress) {
    return 'inClusterAccess LoadBalancer needs a load balancer with an IP address, but this one has only a host name: set inClusterAccess to Policy or Proxy, or remove it';
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
