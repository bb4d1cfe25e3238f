import type { HostClaim, HostedControlPlaneClaim } from './host-claim.ts';

/**
 * Who else has a host and may keep it; nobody when the one that asks may have it. Of two that have it already the older
 * one keeps it. One that is being deleted has its hosts until it is gone: its routes still lead to it.
 * @param claims everything that has this host, the asking one perhaps among them
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
  // Behind another Gateway it takes no traffic of ours.
  if (asking.gateway === undefined || !claim.gateways.includes(asking.gateway)) return false;
  // Its control plane has the host itself, and which of the two keeps it is decided between them.
  return !claims.some(({ kind, key }) => kind === 'HostedControlPlane' && key === claim.owner);
}

/** The older one first; the API keeps times by the second, so that names decide often. */
function compareAge(a: HostClaim, b: HostClaim): number {
  return compare(a.createdAt, b.createdAt) || compare(a.key, b.key) || compare(a.kind, b.kind);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
