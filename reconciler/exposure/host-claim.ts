import { group } from '../../constructs/api/group.ts';
import { exposuresOf, type ExposureSource } from '../../constructs/api/exposure-spec.ts';
import { groupOf, HostedControlPlane, optionalResources } from '../../constructs/api/resources.ts';
import type { TlsRouteSpec } from '../../imports/gateway.networking.k8s.io.ts';
import { heldHosts } from '../../constructs/control-plane/exposure/hosts.ts';
import type { Endpoint } from '../../constructs/cluster/facts.ts';
import { type KubeObject, objectKey } from '../kube/object.ts';

/** The host names that a HostedControlPlane or a TLSRoute holds. */
export type HostClaim = HostedControlPlaneClaim | RouteClaim;

interface Holder {
  /** `namespace/name`. */
  readonly key: string;
  readonly createdAt: string;
  /** In lower case. */
  readonly hosts: readonly string[];
}

export interface HostedControlPlaneClaim extends Holder {
  readonly kind: 'HostedControlPlane';
  /** `namespace/name` of the Gateway that leads to it; missing for other exposure strategies. */
  readonly gateway?: string | undefined;
}

export interface RouteClaim extends Holder {
  readonly kind: 'TLSRoute';
  /** `namespace/name` of each Gateway that it is attached to. */
  readonly gateways: readonly string[];
  /** `namespace/name` of the HostedControlPlane that controls it; missing for other routes. */
  readonly owner?: string | undefined;
}

/** A HostedControlPlane as the API returns it. Its spec may be invalid. */
interface HostedControlPlaneObject extends KubeObject {
  readonly spec?: ExposureSource & { readonly controlPlaneEndpoint?: Partial<Endpoint> | undefined };
}

interface RouteObject extends KubeObject {
  readonly spec?: Partial<TlsRouteSpec>;
}

export function hostClaimOfHostedControlPlane(object: HostedControlPlaneObject): HostedControlPlaneClaim {
  const { metadata, spec = {} } = object;
  const [exposure] = exposuresOf(spec);
  return {
    kind: 'HostedControlPlane',
    key: objectKey(metadata),
    createdAt: metadata.creationTimestamp ?? '',
    hosts: heldHosts(spec).map((host) => host.toLowerCase()),
    gateway: exposure?.kind === 'gateway' ? objectKey(exposure.gateway) : undefined,
  };
}

export function hostClaimOfRoute({ metadata, spec }: RouteObject): RouteClaim {
  const [gateway] = optionalResources.Gateway;
  const parents = (spec?.parentRefs ?? []).filter(
    (parent) =>
      (parent.group ?? groupOf(gateway)) === groupOf(gateway) && (parent.kind ?? gateway.kind) === gateway.kind,
  );
  const owner = metadata.ownerReferences?.find(
    ({ apiVersion, kind, controller }) =>
      controller && kind === HostedControlPlane.kind && groupOf({ apiVersion }) === group,
  );
  const { namespace } = metadata;
  return {
    kind: 'TLSRoute',
    key: objectKey(metadata),
    createdAt: metadata.creationTimestamp ?? '',
    hosts: (spec?.hostnames ?? []).map((host) => host.toLowerCase()),
    gateways: parents.map((parent) => objectKey({ namespace: parent.namespace ?? namespace, name: parent.name })),
    owner: owner && objectKey({ namespace, name: owner.name }),
  };
}

/** `Kind namespace/name` of the holder, for messages. */
export function describeHostClaim({ kind, key }: HostClaim): string {
  return `${kind} ${key}`;
}
