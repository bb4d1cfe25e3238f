import { isDeepStrictEqual } from 'node:util';
import { type HostClaim, describeHostClaim, type HostedControlPlaneClaim } from './host-claim.ts';

/** All host claims, indexed by host name. */
export class HostClaimIndex {
  readonly #claims = new Map<string, HostClaim>();
  readonly #byHost = new Map<string, Set<string>>();

  hostedControlPlane(key: string): HostedControlPlaneClaim | undefined {
    const claim = this.#claims.get(`HostedControlPlane ${key}`);
    return claim?.kind === 'HostedControlPlane' ? claim : undefined;
  }

  /** All claims of this host name. */
  at(host: string): HostClaim[] {
    return [...(this.#byHost.get(host) ?? [])].flatMap((id) => this.#claims.get(id) ?? []);
  }

  /** Adds or replaces a claim. Returns the host names that are affected. */
  put(claim: HostClaim): string[] {
    const id = describeHostClaim(claim);
    const old = this.#claims.get(id);
    if (isDeepStrictEqual(old, claim)) return [];
    this.#unindex(id);
    this.#claims.set(id, claim);
    for (const { name } of claim.hosts) this.#byHost.set(name, (this.#byHost.get(name) ?? new Set()).add(id));
    return [...new Set([...(old?.hosts ?? []), ...claim.hosts].map(({ name }) => name))];
  }

  /** Removes a claim. Returns its host names. */
  remove(claim: HostClaim): readonly string[] {
    const id = describeHostClaim(claim);
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
