import { objectName } from '../../kube/object.ts';
import type { HostClaim, HostedControlPlaneClaim } from './host-claim.ts';

/**
 * The other holder of a host name that keeps it; undefined when the asking control plane may have it. Who holds a host
 * keeps it, also against an older object that asks for it later. One that is being deleted holds its host names until it
 * is gone, because its routes still exist.
 * @param claims all claims of this host name, possibly including the asking one
 */
export function hostOwner(
  host: string,
  asking: HostedControlPlaneClaim,
  claims: readonly HostClaim[],
): HostClaim | undefined {
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
