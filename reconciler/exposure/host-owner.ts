import type { HostClaim, HostedControlPlaneClaim } from './host-claim.ts';

/**
 * The other holder of a host name that may keep it; undefined when the asking control plane may have it. If both
 * already have it, the older one keeps it. One that is being deleted holds its host names until it is gone, because its
 * routes still exist.
 * @param claims all claims of this host name, possibly including the asking one
 */
export function hostOwner(
  host: string,
  asking: HostedControlPlaneClaim,
  claims: readonly HostClaim[],
): HostClaim | undefined {
  const rivals = claims.filter((claim) => isRival(claim, asking, claims));
  const keeping = asking.hosts.includes(host) ? rivals.filter((rival) => compareAge(rival, asking) < 0) : rivals;
  return keeping.sort(compareAge)[0];
}

function isRival(claim: HostClaim, asking: HostedControlPlaneClaim, claims: readonly HostClaim[]): boolean {
  if (claim.kind === 'HostedControlPlane') return claim.key !== asking.key;
  if (claim.owner === asking.key) return false;
  // Behind another Gateway it takes no traffic of the asking control plane.
  if (asking.gateway === undefined || !claim.gateways.includes(asking.gateway)) return false;
  // Its control plane holds the host name itself, so the claims of the two control planes decide.
  return !claims.some(({ kind, key }) => kind === 'HostedControlPlane' && key === claim.owner);
}

/** Sorts the older one first. Creation times have a resolution of one second, so names often decide. */
function compareAge(a: HostClaim, b: HostClaim): number {
  return compare(a.createdAt, b.createdAt) || compare(a.key, b.key) || compare(a.kind, b.kind);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
