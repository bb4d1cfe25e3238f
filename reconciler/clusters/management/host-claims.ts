import { isDeepStrictEqual } from 'node:util';
import { group } from '../../../constructs/api/group.ts';
import { exposuresOf } from '../../../constructs/api/exposure-spec.ts';
import { groupOf, HostedControlPlane, optionalResources } from '../../../constructs/api/resources.ts';
import type { TLSRouteObject } from '../../../imports/gateway-api.ts';
import { definedOnly } from '../../../constructs/cluster/defined-only.ts';
import { itemsOf, textOf } from '../../../constructs/cluster/foreign-values.ts';
import { heldHosts } from '../../../constructs/control-plane/exposure/hosts.ts';
import type { HeldHost } from '../../../constructs/api/status.ts';
import { objectKey, objectName } from '../../kube/object.ts';
import type { HostedControlPlaneObject } from './hosted-control-plane-object.ts';

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
function describe({ kind, key }: HostClaim): string {
  return `${kind} ${key}`;
}

/** All host claims, indexed by host name. */
export class HostClaims {
  readonly #claims = new Map<string, HostClaim>();
  readonly #byHost = new Map<string, Set<string>>();

  hostedControlPlane(key: string): HostedControlPlaneClaim | undefined {
    const claim = this.#claims.get(`HostedControlPlane ${key}`);
    return claim?.kind === 'HostedControlPlane' ? claim : undefined;
  }

  /** The other holder of this host name, as `Kind namespace/name`, if the control plane of this key may not have it. */
  ownerOf(host: string, key: string): string | undefined {
    const asking = this.hostedControlPlane(key);
    const claims = [...(this.#byHost.get(host) ?? [])].flatMap((id) => this.#claims.get(id) ?? []);
    const found = asking && hostOwner(host, asking, claims);
    return found && describe(found);
  }

  /** Adds or replaces a claim. Returns the host names that are affected. */
  put(claim: HostClaim): string[] {
    const id = describe(claim);
    const old = this.#claims.get(id);
    if (isDeepStrictEqual(old, claim)) return [];
    this.#unindex(id);
    this.#claims.set(id, claim);
    for (const { name } of claim.hosts) this.#byHost.set(name, (this.#byHost.get(name) ?? new Set()).add(id));
    return [...new Set([...(old?.hosts ?? []), ...claim.hosts].map(({ name }) => name))];
  }

  /** Removes a claim. Returns its host names. */
  remove(claim: HostClaim): readonly string[] {
    const id = describe(claim);
    const hosts = this.#claims.get(id)?.hosts.map(({ name }) => name) ?? [];
    this.#unindex(id);
    this.#claims.delete(id);
    return hosts;
  }

  #unindex(id: string): void {
    for (const { name } of this.#claims.get(id)?.hosts ?? []) {
      const ids = this.#byHost.get(name);
      ids?.delete(id);
      if (ids?.size === 0) this.#byHost.delete(name);
    }
  }
}

/**
 * The other holder of a host name that keeps it; undefined when the asking control plane may have it. Who holds a host
 * keeps it, also against an older object that asks for it later. One that is being deleted holds its host names until it
 * is gone, because its routes still exist.
 * @param claims all claims of this host name, possibly including the asking one
 */
function hostOwner(host: string, asking: HostedControlPlaneClaim, claims: readonly HostClaim[]): HostClaim | undefined {
  const order = (a: HostClaim, b: HostClaim): number => precedence(host, a, b);
  return claims
    .filter((claim) => isRival(claim, asking, claims))
    .filter((rival) => order(rival, asking) < 0)
    .sort(order)[0];
}

function isRival(claim: HostClaim, asking: HostedControlPlaneClaim, claims: readonly HostClaim[]): boolean {
  if (claim.kind === 'HostedControlPlane') return claim.key !== asking.key && !isBehindForeignGateway(claim, asking);
  if (claim.owner === asking.key) return false;
  // Behind another Gateway it takes no traffic of the asking control plane.
  if (asking.gateway === undefined || !claim.gateways.includes(asking.gateway)) return false;
  // Its control plane holds the host name itself, so the claims of the two control planes decide.
  return !claims.some(({ kind, key }) => kind === 'HostedControlPlane' && key === claim.owner);
}

/** A tenant must not take the names of others by a Gateway of its own, through which none of their traffic goes. */
function isBehindForeignGateway(claim: HostedControlPlaneClaim, asking: HostedControlPlaneClaim): boolean {
  const areGateways = claim.gateway !== undefined && asking.gateway !== undefined;
  return areGateways && claim.gateway !== asking.gateway && namespaceOf(claim) !== namespaceOf(asking);
}

/** Negative when the first one comes before the second one. */
function precedence(host: string, a: HostClaim, b: HostClaim): number {
  return (
    compare(belongs(host, b, a), belongs(host, a, b)) ||
    compare(rank(host, a), rank(host, b)) ||
    compare(a.key, b.key) ||
    compare(a.kind, b.kind)
  );
}

/**
 * A host below the name of a namespace behind a Gateway belongs to that namespace, so that an Ingress, whose hosts are
 * free to choose, cannot take it before.
 */
function belongs(host: string, claim: HostClaim, other: HostClaim): boolean {
  if (claim.kind === 'TLSRoute' || other.kind === 'TLSRoute') return false;
  const isOnlyGateway = claim.gateway !== undefined && other.gateway === undefined;
  return (
    isOnlyGateway && host.split('.').slice(1).includes(namespaceOf(claim)) && namespaceOf(claim) !== namespaceOf(other)
  );
}

/** Control planes that hold the host by their time, then routes by theirs, then control planes that ask for it. */
function rank(host: string, { kind, hosts }: HostClaim): string {
  const heldSince = hosts.find(({ name }) => name === host)?.heldSince;
  if (kind === 'TLSRoute') return `2 ${heldSince}`;
  return heldSince === undefined ? '3' : `1 ${heldSince}`;
}

function namespaceOf({ key }: HostClaim): string {
  return objectName(key).namespace ?? '';
}

function compare<T extends string | boolean>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
