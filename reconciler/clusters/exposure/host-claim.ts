import type { HostedControlPlaneObject } from '../management/hosted-control-plane-object.ts';
import { group } from '../../../constructs/api/group.ts';
import { exposuresOf } from '../../../constructs/api/exposure-spec.ts';
import { groupOf, HostedControlPlane, optionalResources } from '../../../constructs/api/resources.ts';
import type { TLSRouteObject } from '../../../imports/gateway-api.ts';
import { definedOnly } from '../../../constructs/cluster/defined-only.ts';
import { itemsOf, textOf } from '../../../constructs/cluster/foreign-values.ts';
import { heldHosts } from '../../../constructs/control-plane/exposure/hosts.ts';
import type { HeldHost } from '../../../constructs/api/status.ts';
import { objectKey } from '../../kube/object.ts';

/** The host names that a HostedControlPlane or a TLSRoute holds. */
export type HostClaim = HostedControlPlaneClaim | RouteClaim;

interface Holder {
  /** `namespace/name`. */
  readonly key: string;
  readonly hosts: readonly HeldHost[];
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

/**
 * The claim of a HostedControlPlane. What its spec asks for is none: the operator records the hosts that it holds in the
 * status, which users may not write. One that worked before there was such a record holds the hosts of its spec.
 */
export function hostClaimOfHostedControlPlane(object: HostedControlPlaneObject): HostedControlPlaneClaim {
  const { metadata, spec = {}, status } = object;
  const [exposure] = exposuresOf(spec);
  const gateway = exposure?.kind === 'gateway' ? objectKey(exposure.gateway) : undefined;
  const heldSince = metadata.creationTimestamp ?? '';
  const isOlderThanRecords = status?.hosts === undefined && status?.initialization?.controlPlaneInitialized;
  return {
    kind: 'HostedControlPlane',
    key: objectKey(metadata),
    hosts: isOlderThanRecords
      ? heldHosts(spec).map((host) => ({ name: host.toLowerCase(), ...definedOnly({ gateway }), heldSince }))
      : // What it holds behind one Gateway gives it nothing behind another one.
        (status?.hosts ?? []).filter((held) => held.gateway === gateway),
    gateway,
  };
}

export function hostClaimOfRoute({ metadata, spec }: TLSRouteObject): RouteClaim {
  const [gateway] = optionalResources.Gateway;
  const parents = itemsOf(spec?.parentRefs).filter(
    (parent) =>
      (parent.group ?? groupOf(gateway)) === groupOf(gateway) && (parent.kind ?? gateway.kind) === gateway.kind,
  );
  const owner = metadata.ownerReferences?.find(
    ({ apiVersion, kind, controller }) =>
      controller && kind === HostedControlPlane.kind && groupOf({ apiVersion }) === group,
  );
  const { namespace, creationTimestamp: heldSince = '' } = metadata;
  return {
    kind: 'TLSRoute',
    key: objectKey(metadata),
    hosts: itemsOf(spec?.hostnames).flatMap((host) => (textOf(host) ? [{ name: host.toLowerCase(), heldSince }] : [])),
    gateways: parents.map((parent) => objectKey({ namespace: parent.namespace ?? namespace, name: parent.name ?? '' })),
    owner: owner && objectKey({ namespace, name: owner.name }),
  };
}

/** `Kind namespace/name` of the holder, for messages. */
export function describeHostClaim({ kind, key }: HostClaim): string {
  return `${kind} ${key}`;
}
