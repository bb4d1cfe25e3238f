import type { IngressObject } from '../../imports/kubernetes.ts';
import type { ServiceObject } from '../../imports/kubernetes.ts';
import type { HostedControlPlane } from '../../constructs/api/hosted-control-plane.ts';
import { Ingress, IngressRouteTCP, Service } from '../../constructs/api/resources.ts';
import type { HostedCluster } from '../../constructs/cluster/cluster.ts';
import { keepingProxies } from '../../constructs/cluster/in-cluster-access.ts';
import { type ManagementIssuer, withManagementIssuer } from '../../constructs/cluster/management-issuer.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { defaultPlatformLists, type PlatformLists } from '../../constructs/cluster/platform-lists.ts';
import type { Release } from '../../constructs/cluster/release-revisions.ts';
import { type LiveWayIn, withinPlatformLists } from '../../constructs/control-plane/exposure/within-platform-lists.ts';
import type { ClusterObject } from '../../imports/cluster-api.ts';
import type { Reader } from '../clusters/management/view.ts';
import { observeNetwork } from '../clusters/management/network-in-use.ts';

/** What the platform has set for all control planes. */
export interface ByPlatform {
  readonly managementIssuer?: ManagementIssuer | undefined;
  /** @default {@link defaultPlatformLists} */
  readonly platformLists?: PlatformLists | undefined;
}

interface Source {
  readonly hostedControlPlane: HostedControlPlane;
  readonly clusterObject: ClusterObject;
  readonly release?: Release | undefined;
}

/**
 * The cluster that a spec describes, including choices that its status has fixed, or the platform has made. What the
 * platform's lists allow is decided only with a reader of what is there.
 */
export function hostedClusterOf(
  { hostedControlPlane, clusterObject, release }: Source,
  { managementIssuer, platformLists = defaultPlatformLists, reader }: ByPlatform & { readonly reader?: Reader } = {},
): HostedCluster {
  const cluster = {
    name: clusterObject.metadata.name,
    namespace: hostedControlPlane.metadata.namespace,
    network: observeNetwork({ hostedControlPlane, clusterObject, reader }),
    spec: keepingProxies(hostedControlPlane.spec, hostedControlPlane.status?.inClusterAccess),
    release,
  };
  const signingIn = withManagementIssuer(cluster, managementIssuer);
  return reader ? withinPlatformLists(signingIn, platformLists, liveWayIn(reader, cluster)) : signingIn;
}

/** Annotations and class of the object that leads to the API servers: what they are, an operator before may have allowed. */
function liveWayIn(reader: Reader, { name, spec }: HostedCluster): LiveWayIn {
  const names = namesOf(name);
  const ingress = spec.exposure?.ingress;
  if (ingress === undefined) {
    const service = reader.get<ServiceObject>(Service, names.apiService);
    return { annotations: service?.metadata.annotations, className: service?.spec?.loadBalancerClass };
  }
  const resource = ingress.controller === 'traefik' ? IngressRouteTCP : Ingress;
  const route = reader.get<IngressObject>(resource, names.routes.api);
  return { annotations: route?.metadata.annotations, className: route?.spec?.ingressClassName };
}
